#include "storage/chunk_writer.h"

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/byte_size.h>
#include <fmt/format.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>

#include <exception>

#include "base/error.h"

namespace pistachio {

namespace {

constexpr int64_t kRowGroupBytes = 64 << 20;

class SinkStream final : public arrow::io::OutputStream {
 public:
  explicit SinkStream(ByteSink sink) : sink_(std::move(sink)) {}

  arrow::Status Write(const void* data, int64_t count) override {
    if (is_abandoned_) return arrow::Status::IOError("writing was abandoned");
    try {
      sink_(std::string_view(static_cast<const char*>(data), static_cast<size_t>(count)));
    } catch (...) {
      // Arrow can only return a status: check() rethrows this.
      problem_ = std::current_exception();
      return arrow::Status::IOError("the sink failed");
    }
    written_ += count;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return written_; }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }

  // From now on nothing is passed to the sink.
  void abandon() { is_abandoned_ = true; }

  // Rethrows the sink's exception, else translates the status.
  void check(const arrow::Status& status) const {
    if (problem_) std::rethrow_exception(problem_);
    if (!status.ok()) throw UserError(fmt::format("cannot write the result: {}", status.message()));
  }
  template <typename Value>
  Value check(arrow::Result<Value> result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

 private:
  ByteSink sink_;
  int64_t written_ = 0;
  bool closed_ = false;
  bool is_abandoned_ = false;
  std::exception_ptr problem_;
};

class ArrowStreamWriter final : public ChunkWriter {
 public:
  ArrowStreamWriter(const std::vector<NamedType>& columns, ByteSink sink)
      : stream_(std::make_shared<SinkStream>(std::move(sink))),
        schema_(arrow_schema(columns, IntervalForm::MonthDayNano)),
        writer_(stream_->check(arrow::ipc::MakeStreamWriter(stream_, schema_))) {}

  void write(const Chunk& chunk) override {
    for (const std::shared_ptr<arrow::RecordBatch>& batch : arrow_batches(schema_, chunk, IntervalForm::MonthDayNano))
      stream_->check(writer_->WriteRecordBatch(*batch));
  }
  void finish() override { stream_->check(writer_->Close()); }

 private:
  std::shared_ptr<SinkStream> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

// Arrow would write INTERVAL as bytes without a logical type.
std::shared_ptr<parquet::schema::GroupNode> with_intervals(const parquet::schema::GroupNode& root, const std::vector<NamedType>& columns) {
  parquet::schema::NodeVector fields;
  for (int i = 0; i < root.field_count(); ++i) {
    const NamedType& column = columns[static_cast<size_t>(i)];
    bool is_interval = column.type.kind() == TypeKind::Interval;
    fields.push_back(is_interval
                         ? parquet::schema::PrimitiveNode::Make(column.name, parquet::Repetition::OPTIONAL,
                                                                parquet::LogicalType::Interval(), parquet::Type::FIXED_LEN_BYTE_ARRAY, 12)
                         : root.field(i));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(parquet::schema::GroupNode::Make("schema", root.repetition(), fields));
}

parquet::Compression::type codec_of(ParquetCompression compression) {
  switch (compression) {
    case ParquetCompression::None: return parquet::Compression::UNCOMPRESSED;
    case ParquetCompression::Snappy: return parquet::Compression::SNAPPY;
    case ParquetCompression::Gzip: return parquet::Compression::GZIP;
    case ParquetCompression::Zstd: return parquet::Compression::ZSTD;
    case ParquetCompression::Lz4: return parquet::Compression::LZ4;
    case ParquetCompression::Brotli: return parquet::Compression::BROTLI;
  }
  return parquet::Compression::SNAPPY;
}

class ParquetWriter final : public ChunkWriter {
 public:
  ParquetWriter(const std::vector<NamedType>& columns, ByteSink sink, const ParquetStyle& style)
      : stream_(std::make_shared<SinkStream>(std::move(sink))), schema_(arrow_schema(columns, IntervalForm::Parquet)) {
    parquet::WriterProperties::Builder builder;
    builder.compression(codec_of(style.compression))->max_row_group_length(style.row_group_rows)->enable_store_decimal_as_integer();
    if (style.level) builder.compression_level(*style.level);
    std::shared_ptr<parquet::WriterProperties> properties = builder.build();
    std::shared_ptr<parquet::ArrowWriterProperties> arrow_properties = parquet::default_arrow_writer_properties();
    guard([&] {
      std::shared_ptr<parquet::SchemaDescriptor> plain;
      ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(schema_.get(), *properties, *arrow_properties, &plain));
      auto file = parquet::ParquetFileWriter::Open(stream_, with_intervals(*plain->group_node(), columns), properties);
      return parquet::arrow::FileWriter::Make(arrow::default_memory_pool(), std::move(file), schema_, arrow_properties, &writer_);
    });
  }

  // Parquet's destructor would write a footer and make a partial result look complete.
  ~ParquetWriter() override { stream_->abandon(); }

  void write(const Chunk& chunk) override {
    for (const std::shared_ptr<arrow::RecordBatch>& batch : arrow_batches(schema_, chunk, IntervalForm::Parquet)) {
      guard([&] {
        if (group_bytes_ >= kRowGroupBytes) {
          ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
          group_bytes_ = 0;
        }
        return writer_->WriteRecordBatch(*batch);
      });
      group_bytes_ += arrow::util::TotalBufferSize(*batch);
    }
  }
  void finish() override {
    guard([&] { return writer_->Close(); });
  }

 private:
  // Parquet throws where Arrow returns a status, even after the sink failed.
  template <typename Call>
  void guard(Call call) {
    arrow::Status status;
    try {
      status = call();
    } catch (const parquet::ParquetException& error) {
      status = arrow::Status::IOError(error.what());
    }
    stream_->check(status);
  }

  std::shared_ptr<SinkStream> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  int64_t group_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ChunkWriter> make_parquet_writer(const std::vector<NamedType>& columns, ByteSink sink, const ParquetStyle& style) {
  return std::make_unique<ParquetWriter>(columns, std::move(sink), style);
}

std::unique_ptr<ChunkWriter> make_arrow_stream_writer(const std::vector<NamedType>& columns, ByteSink sink) {
  return std::make_unique<ArrowStreamWriter>(columns, std::move(sink));
}

}  // namespace pistachio
