// COPY TO: the rows of a query as a file, or as a folder of files by partition values.
#include <fmt/format.h>

#include "base/error.h"
#include "engine/query_pipeline.h"
#include "results/output_file.h"
#include "results/partitioned_files.h"
#include "session/copy_options.h"
#include "session/session.h"

namespace pistachio {

void Session::run(const std::shared_ptr<const ast::Statement>& statement, const ast::Copy& node, ResultReceiver&) {
  auto with_position = [&](const auto& body) {
    try {
      return body();
    } catch (const UserError& error) {
      throw UserError(error.message(), statement->position);
    }
  };
  const CopyOptions options = with_position([&] { return CopyOptions(node); });
  PlannedQuery planned = plan(*node.query);
  refuse_omitted_columns(planned);
  if (node.partition_by.empty()) {
    OutputFile file(node.path);
    std::unique_ptr<ResultReceiver> format = options.make_format(file);
    write_result(planned, *format);
    file.publish();
    return;
  }
  PartitionedFiles::Target target{node.path, node.partition_by, options.ending(), options.may_replace};
  PartitionedFiles files(std::move(target), [&](ResultSink& sink) { return options.make_format(sink); });
  write_result(planned, files);
  files.publish();
}

void Session::write_result(const PlannedQuery& planned, ResultReceiver& receiver) {
  receiver.start(token_);
  receiver.begin(planned.columns);
  run_planned(planned, receiver);
  receiver.end();
}

}  // namespace pistachio
