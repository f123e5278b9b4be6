#include "storage/object_store.h"

#include <arrow/filesystem/filesystem.h>
#include <arrow/filesystem/s3fs.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/util/future.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace pistachio {

namespace {

constexpr std::array<std::string_view, 5> kSchemes = {"s3://", "gs://", "gcs://", "abfs://", "abfss://"};

class ObjectFile final : public DataFile {
 public:
  ObjectFile(std::string path, FileIdentity identity, std::shared_ptr<arrow::io::RandomAccessFile> file)
      : DataFile(std::move(path), std::move(identity)), file_(std::move(file)) {}

  bool is_remote() const override { return true; }
  int64_t read_cached(int64_t, std::span<uint8_t>) override { return 0; }

  void read_blocking(int64_t offset, std::span<uint8_t> target) override {
    arrow::Result<int64_t> got = file_->ReadAt(offset, static_cast<int64_t>(target.size()), target.data());
    if (!got.ok()) throw DataError(fmt::format("cannot read: {}", got.status().message()), {path(), -1, "", offset});
    if (*got != static_cast<int64_t>(target.size()))
      throw DataError("the object ends early; it was replaced while it was being read", {path(), -1, "", offset + *got});
  }

 private:
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
};

// A question mark starts options only if name=value follows; else it is a wildcard.
size_t options_begin(const std::string& address) {
  size_t question = address.find('?');
  while (question != std::string::npos) {
    size_t equals = address.find('=', question);
    if (equals != std::string::npos && address.find_first_of("/*?[", question + 1) > equals) return question;
    question = address.find('?', question + 1);
  }
  return address.size();
}

// The folder in front of the first wildcard.
std::string fixed_folder(const std::string& path) {
  size_t wildcard = path.find_first_of("*?[");
  if (wildcard == std::string::npos) return path;
  size_t slash = path.rfind('/', wildcard);
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

bool is_object_address(std::string_view path) {
  for (std::string_view scheme : kSchemes) {
    if (path.starts_with(scheme)) return true;
  }
  return false;
}

std::string without_options(const std::string& address) {
  return address.substr(0, options_begin(address));
}

ObjectStores::~ObjectStores() {
  file_systems_.clear();
  // Arrow requires this before the process ends, if its S3 client was ever used.
  if (arrow::fs::IsS3Initialized()) (void)arrow::fs::FinalizeS3();
}

ObjectStores::Place ObjectStores::resolve(const std::string& address) {
  Place place;
  size_t scheme_end = address.find("://") + 3;
  place.prefix = address.substr(0, scheme_end);
  std::string rest = address.substr(scheme_end);
  place.options = rest.substr(options_begin(rest));
  rest.resize(rest.size() - place.options.size());
  place.path = rest;
  std::string bucket = rest.substr(0, rest.find('/'));
  if (bucket.empty()) throw UserError(fmt::format("{} names no bucket", address));
  std::string root = place.prefix + bucket + place.options;
  std::lock_guard lock(mutex_);
  std::shared_ptr<arrow::fs::FileSystem>& file_system = file_systems_[root];
  if (file_system == nullptr) {
    std::string unused;
    arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> made = arrow::fs::FileSystemFromUri(root, &unused);
    if (!made.ok()) {
      file_systems_.erase(root);
      throw UserError(fmt::format("cannot reach {}: {}", root, made.status().message()));
    }
    file_system = *made;
  }
  place.file_system = file_system;
  return place;
}

std::shared_ptr<DataFile> ObjectStores::open(const std::string& address) {
  Place place = resolve(address);
  arrow::Result<arrow::fs::FileInfo> info = place.file_system->GetFileInfo(place.path);
  if (!info.ok()) throw UserError(fmt::format("cannot reach {}: {}", address, info.status().message()));
  if (info->type() == arrow::fs::FileType::NotFound) throw UserError(fmt::format("{} does not exist", address));
  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> opened = place.file_system->OpenInputFile(*info);
  if (!opened.ok()) throw UserError(fmt::format("cannot open {}: {}", address, opened.status().message()));
  FileIdentity identity;
  identity.size = (*opened)->GetSize().ValueOr(info->size());
  identity.version = fmt::format("{}", info->mtime().time_since_epoch().count());
  arrow::Result<std::shared_ptr<const arrow::KeyValueMetadata>> metadata = (*opened)->ReadMetadata();
  if (metadata.ok() && *metadata != nullptr) {
    if (arrow::Result<std::string> tag = (*metadata)->Get("ETag"); tag.ok()) identity.version = *tag;
  }
  return std::make_shared<ObjectFile>(address, std::move(identity), *opened);
}

std::vector<std::string> ObjectStores::list(const std::string& pattern, const CancelToken& token) {
  Place place = resolve(pattern);
  std::string folder = fixed_folder(place.path);
  arrow::Result<arrow::fs::FileInfo> info = place.file_system->GetFileInfo(folder);
  if (!info.ok()) throw UserError(fmt::format("cannot reach {}: {}", pattern, info.status().message()));
  if (info->type() == arrow::fs::FileType::File) return {place.prefix + folder + place.options};
  arrow::fs::FileSelector selector;
  selector.base_dir = folder;
  selector.recursive = true;
  selector.allow_not_found = true;
  // Page by page: a listing of millions of objects takes minutes.
  arrow::fs::FileInfoGenerator next_page = place.file_system->GetFileInfoGenerator(selector);
  std::vector<std::string> addresses;
  while (true) {
    token.throw_if_cancelled();
    arrow::Result<std::vector<arrow::fs::FileInfo>> found = next_page().MoveResult();
    if (!found.ok()) throw UserError(fmt::format("cannot list {}: {}", pattern, found.status().message()));
    if (found->empty()) return addresses;
    for (const arrow::fs::FileInfo& entry : *found) {
      if (entry.type() == arrow::fs::FileType::File) addresses.push_back(place.prefix + entry.path() + place.options);
    }
  }
}

}  // namespace pistachio
