// Object stores (s3://, gs://, gcs://, abfs://, abfss://) through Arrow's file systems. Keeps one connection pool per store and set of
// options. Thread-safe; calls wait for the network, so make them on blocking threads. Addresses may carry Arrow's options as
// `?name=value&...` (region, endpoint_override, scheme, ...).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"
#include "storage/data_file.h"

namespace arrow::fs {
class FileSystem;
}

namespace pistachio {

bool is_object_address(std::string_view path);
// The address without its options (`?name=value&...`).
std::string without_options(const std::string& address);

class ObjectStores {
 public:
  ObjectStores() = default;
  ~ObjectStores();
  ObjectStores(const ObjectStores&) = delete;
  ObjectStores& operator=(const ObjectStores&) = delete;

  // Throws UserError when the store cannot be reached or has no such object.
  std::shared_ptr<DataFile> open(const std::string& address);
  // Addresses of all objects below the pattern's fixed prefix (everything before the folder of the first wildcard).
  std::vector<std::string> list(const std::string& pattern, const CancelToken& token = {});

 private:
  struct Place {
    std::shared_ptr<arrow::fs::FileSystem> file_system;
    std::string prefix;   // "s3://"
    std::string path;     // "bucket/key"
    std::string options;  // "?..." or empty
  };
  Place resolve(const std::string& address);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<arrow::fs::FileSystem>> file_systems_;  // guarded by mutex_
};

}  // namespace pistachio
