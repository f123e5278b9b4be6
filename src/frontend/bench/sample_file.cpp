#include "frontend/bench/sample_file.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/error.h"

namespace pistachio {

namespace {

void check(const arrow::Status& status, const std::string& path) {
  if (!status.ok()) throw UserError(fmt::format("cannot write {}: {}", path, status.message()));
}

std::shared_ptr<arrow::Schema> sample_schema() {
  return arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("customer", arrow::int64(), false),
                        arrow::field("amount", arrow::decimal128(15, 2), false), arrow::field("day", arrow::date32(), false),
                        arrow::field("flag", arrow::utf8(), false), arrow::field("remark", arrow::utf8(), false)});
}

constexpr std::array<std::string_view, 8> kWords = {"quick", "final", "pending", "regular", "express", "ironic", "careful", "bold"};

arrow::Result<std::shared_ptr<arrow::RecordBatch>> make_rows(int64_t first, int64_t count, std::mt19937_64& random) {
  arrow::Int64Builder id;
  arrow::Int64Builder customer;
  arrow::Decimal128Builder amount(arrow::decimal128(15, 2));
  arrow::Date32Builder day;
  arrow::StringBuilder flag;
  arrow::StringBuilder remark;
  for (int64_t row = first; row < first + count; ++row) {
    uint64_t draw = random();
    ARROW_RETURN_NOT_OK(id.Append(row));
    ARROW_RETURN_NOT_OK(customer.Append(static_cast<int64_t>(draw % 200'000)));
    ARROW_RETURN_NOT_OK(amount.Append(arrow::Decimal128(static_cast<int64_t>((draw >> 20) % 10'000'000))));
    ARROW_RETURN_NOT_OK(day.Append(static_cast<int32_t>(8'000 + (draw >> 44) % 2'500)));
    ARROW_RETURN_NOT_OK(flag.Append(std::string_view("ANR").substr((draw >> 56) % 3, 1)));
    std::string text = fmt::format("{} {} {}", kWords[draw % 8], kWords[(draw >> 3) % 8], (draw >> 6) % 1'000);
    ARROW_RETURN_NOT_OK(remark.Append(text));
  }
  arrow::ArrayVector columns(6);
  ARROW_RETURN_NOT_OK(id.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(customer.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(amount.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(day.Finish(&columns[3]));
  ARROW_RETURN_NOT_OK(flag.Finish(&columns[4]));
  ARROW_RETURN_NOT_OK(remark.Finish(&columns[5]));
  return arrow::RecordBatch::Make(sample_schema(), count, std::move(columns));
}

arrow::Status write(const std::string& path, const SampleFile& sample) {
  ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::FileOutputStream::Open(path));
  auto properties = parquet::WriterProperties::Builder()
                        .compression(parquet::Compression::SNAPPY)
                        ->max_row_group_length(sample.row_group_rows)
                        ->enable_write_page_index()
                        ->build();
  ARROW_ASSIGN_OR_RAISE(auto writer, parquet::arrow::FileWriter::Open(*sample_schema(), arrow::default_memory_pool(), output, properties));
  std::mt19937_64 random(1);
  constexpr int64_t kRowsOfBatch = 65'536;
  for (int64_t first = 0; first < sample.rows; first += kRowsOfBatch) {
    ARROW_ASSIGN_OR_RAISE(auto rows, make_rows(first, std::min(kRowsOfBatch, sample.rows - first), random));
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*rows));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return output->Close();
}

}  // namespace

void write_sample_file(const std::string& path, const SampleFile& sample) {
  check(write(path, sample), path);
}

}  // namespace pistachio
