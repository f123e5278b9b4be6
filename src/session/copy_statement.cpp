// COPY TO: the rows of a query as a file, or as a folder of files by partition values.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "binder/name_match.h"
#include "engine/query_pipeline.h"
#include "results/output_file.h"
#include "results/partitioned_files.h"
#include "session/copy_options.h"
#include "session/session.h"

namespace pistachio {

namespace {

// The column of the result that a name of PARTITION_BY means, as ORDER BY does.
size_t partition_place(const std::vector<ResultColumn>& columns, const std::string& name) {
  auto find = [&](auto matches) {
    return static_cast<size_t>(
        std::find_if(columns.begin(), columns.end(), [&](const ResultColumn& column) { return matches(column.name); }) - columns.begin());
  };
  const size_t exact = find([&](const std::string& other) { return other == name; });
  if (exact < columns.size() || !may_be_unquoted(name)) return exact;
  return find([&](const std::string& other) { return matches_without_case(name, other); });
}

// Equal values of these types may differ as text, such as 0 and -0 or a month and 30 days: their rows would be mixed.
bool has_several_forms(LogicalType type) {
  return type.kind() == TypeKind::Real || type.kind() == TypeKind::Double || type.kind() == TypeKind::Interval;
}

std::vector<size_t> partition_places(const std::vector<ResultColumn>& columns, const std::vector<std::string>& names) {
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const size_t place = partition_place(columns, name);
    if (place == columns.size()) throw UserError(fmt::format("PARTITION_BY: the result has no column {}", name));
    if (std::find(places.begin(), places.end(), place) != places.end()) throw UserError(fmt::format("PARTITION_BY names {} twice", name));
    if (has_several_forms(columns[place].type)) {
      throw UserError(fmt::format("PARTITION_BY {}: the column is {}; cast it to a type whose equal values are one text", name,
                                  columns[place].type.to_string()));
    }
    places.push_back(place);
  }
  if (places.size() == columns.size()) throw UserError("PARTITION_BY names all columns of the result: none is left for the files");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (std::find(places.begin(), places.end(), i) != places.end()) continue;
    for (size_t place : places) {
      if (fold_name(columns[i].name) == fold_name(columns[place].name))
        throw UserError(fmt::format("PARTITION_BY {}: another column of the result is called {}, and readers could not tell them apart",
                                    columns[place].name, columns[i].name));
    }
  }
  return places;
}

}  // namespace

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
    const auto file = with_position([&] { return std::make_unique<OutputFile>(node.path); });
    std::unique_ptr<ResultReceiver> format = options.make_format(*file);
    write_result(planned, *format);
    with_position([&] { file->publish(); });
    return;
  }
  const auto files = with_position([&] {
    const PartitionedFiles::Target target{node.path, partition_places(planned.columns, node.partition_by), options.ending(),
                                          options.may_replace};
    return std::make_unique<PartitionedFiles>(target, [&](ResultSink& sink) { return options.make_format(sink); });
  });
  write_result(planned, *files);
  with_position([&] { files->publish(); });
}

void Session::write_result(const PlannedQuery& planned, ResultReceiver& receiver) {
  receiver.start(token_);
  receiver.begin(planned.columns);
  run_planned(planned, receiver);
  receiver.end();
}

}  // namespace pistachio
