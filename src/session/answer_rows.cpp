#include "session/answer_rows.h"

#include "columns/scalar_access.h"

namespace pistachio {

void send_rows(ResultReceiver& receiver, const std::vector<ResultColumn>& columns, const std::vector<std::vector<ScalarValue>>& rows) {
  receiver.begin(columns);
  std::vector<Column> made;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<ScalarValue> cells;
    for (const std::vector<ScalarValue>& row : rows) cells.push_back(row[i]);
    made.push_back(column_of_values(columns[i].type, cells));
  }
  if (!rows.empty()) receiver.add(Chunk(std::move(made), static_cast<int64_t>(rows.size())));
  receiver.end();
}

ScalarValue text_value(std::string text) {
  return ScalarValue::of_text(TypeKind::Varchar, std::move(text));
}

}  // namespace pistachio
