#include "results/partitioned_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "results/output_path.h"

namespace pistachio {

namespace {

constexpr std::string_view kNullValue = "__HIVE_DEFAULT_PARTITION__";
constexpr mode_t kFolderMode = 0777;  // the user's mask takes bits away

// Characters that a path or the form name=value cannot hold are written as %XX, as Hive does.
void append_path_text(std::string& target, std::string_view text, WorkPoll& poll) {
  poll(static_cast<int64_t>(text.size()));
  if (text == kNullValue) throw UserError(fmt::format("PARTITION_BY: the text {} stands for NULL in the names of folders", kNullValue));
  constexpr std::string_view special = "\"#%'*/:=?\\{}[]^";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7f || special.find(letter) != std::string_view::npos) {
      target += fmt::format("%{:02X}", byte);
    } else {
      target += letter;
    }
  }
}

// Folders whose names begin with a point or an underscore are hidden from readers.
std::string folder_name_of(const std::string& column, WorkPoll& poll) {
  std::string name;
  append_path_text(name, column, poll);
  if (name.starts_with('.') || name.starts_with('_')) name.replace(0, 1, fmt::format("%{:02X}", static_cast<unsigned char>(name[0])));
  return name;
}

bool is_empty_folder(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) fail_on_path("read", folder);
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

void make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) fail_on_path("create", folder);
}

// A file in the hidden folder: what makes it durable and visible happens to the whole folder.
class InnerFile final : public ResultSink {
 public:
  explicit InnerFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wxe")) {
    if (file_ == nullptr) fail_on_path("create", path_);
  }
  ~InnerFile() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  InnerFile(const InnerFile&) = delete;
  InnerFile& operator=(const InnerFile&) = delete;

  void set_token(CancelToken token) override { token_ = std::move(token); }
  void write(std::string_view bytes) override {
    token_.throw_if_cancelled();
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail_on_path("write", path_);
  }
  void close() {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail_on_path("write", path_);
  }

 private:
  const std::string path_;
  std::FILE* file_;
  CancelToken token_;
};

}  // namespace

class PartitionedFiles::OpenFile {
 public:
  OpenFile(std::string key, std::string path, const MakeFormat& make_format)
      : key_(std::move(key)), file_(std::move(path)), format_(make_format(file_)) {}

  const std::string& key() const { return key_; }
  ResultReceiver& format() { return *format_; }
  void finish() {
    format_->end();
    format_.reset();
    file_.close();
  }

 private:
  const std::string key_;
  InnerFile file_;
  std::unique_ptr<ResultReceiver> format_;
};

PartitionedFiles::PartitionedFiles(const Target& target, MakeFormat make_format)
    : partition_by_(target.partition_by),
      ending_(target.ending),
      may_replace_(target.may_replace),
      make_format_(std::move(make_format)),
      folder_(resolved_output_path(target.folder)) {
  struct stat own {
  }, parent{};
  const bool exists = ::stat(folder_.c_str(), &own) == 0;
  if (::stat(folder_of_path(folder_).c_str(), &parent) != 0) fail_on_path("create", folder_);
  if (exists && !S_ISDIR(own.st_mode)) throw UserError(fmt::format("cannot write partitions to {}: it is a file", folder_));
  if (exists && own.st_dev != parent.st_dev)
    throw UserError(fmt::format("cannot write partitions to {}: it is a mount point; name a folder in it", folder_));
  if (exists && !may_replace_ && !is_empty_folder(folder_))
    throw UserError(fmt::format("the folder {} has files; OVERWRITE true replaces them", folder_));
  hidden_ = hidden_path_beside(folder_);
  make_folder(hidden_);
  // Who may read the old folder may read the new one.
  if (exists && ::chmod(hidden_.c_str(), own.st_mode & 07777) != 0) fail_on_path("create", hidden_);
}

PartitionedFiles::~PartitionedFiles() {
  open_.reset();
  if (!hidden_.empty()) remove_folder(hidden_);
}

void PartitionedFiles::begin(const std::vector<ResultColumn>& columns) {
  for (const size_t place : partition_by_) {
    partition_names_.push_back(folder_name_of(columns[place].name, poll_));
    values_.emplace_back(ValueStyle{kNullValue, "", append_path_text});
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (std::find(partition_by_.begin(), partition_by_.end(), i) != partition_by_.end()) continue;
    data_places_.push_back(i);
    data_columns_.push_back(columns[i]);
  }
}

std::string PartitionedFiles::key_of(size_t row) const {
  std::string key;
  for (size_t i = 0; i < values_.size(); ++i) key += fmt::format("{}{}={}", i == 0 ? "" : "/", partition_names_[i], values_[i][row]);
  return key;
}

void PartitionedFiles::add(const Chunk& chunk) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i].assign(chunk.column(partition_by_[i]), poll_);
  const auto rows = static_cast<size_t>(chunk.rows());
  for (size_t begin = 0; begin < rows;) {
    const std::string key = key_of(begin);
    // Equal rows follow each other: bisect for the first that differs.
    size_t end = begin + 1, beyond = rows;
    while (end < beyond) {
      const size_t middle = end + (beyond - end) / 2;
      if (key_of(middle) == key) {
        end = middle + 1;
      } else {
        beyond = middle;
      }
    }
    if (open_ == nullptr || open_->key() != key) {
      close_file();
      open_file(key);
    }
    const Chunk part = chunk.slice(static_cast<int64_t>(begin), static_cast<int64_t>(end - begin));
    std::vector<Column> columns;
    for (size_t place : data_places_) columns.push_back(part.column(place));
    open_->format().add(Chunk(std::move(columns), part.rows()));
    begin = end;
  }
}

void PartitionedFiles::make_folders(const std::string& key) const {
  for (size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1))
    make_folder(hidden_ + "/" + key.substr(0, slash));
  make_folder(hidden_ + "/" + key);
}

void PartitionedFiles::open_file(std::string key) {
  make_folders(key);
  auto path = [&](int number) { return fmt::format("{}/{}/data_{}.{}", hidden_, key, number, ending_); };
  int number = 0;
  while (::access(path(number).c_str(), F_OK) == 0) ++number;
  open_ = std::make_unique<OpenFile>(key, path(number), make_format_);
  open_->format().start(token_);
  open_->format().begin(data_columns_);
}

void PartitionedFiles::close_file() {
  if (open_ != nullptr) open_->finish();
  open_.reset();
}

void PartitionedFiles::end() {
  close_file();
}

void PartitionedFiles::break_off() {
  open_.reset();
}

void PartitionedFiles::publish() {
  const int descriptor = ::open(hidden_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  if (!is_synced) fail_on_path("write", folder_);
  ::close(descriptor);
  // Replaces an empty folder, but no other.
  if (::rename(hidden_.c_str(), folder_.c_str()) == 0) {
    hidden_.clear();
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    fail_on_path("replace", folder_);
  } else if (!may_replace_) {
    throw UserError(fmt::format("the folder {} got files meanwhile; OVERWRITE true replaces them", folder_));
  } else if (::renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, folder_.c_str(), RENAME_EXCHANGE) != 0) {
    fail_on_path("replace", folder_);
  }
  // After an exchange `hidden_` is the old folder, which the destructor deletes.
  sync_folder(folder_of_path(folder_));
}

}  // namespace pistachio
