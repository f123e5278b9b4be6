#include "results/partitioned_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace pistachio {

namespace {

namespace files = std::filesystem;

constexpr std::string_view kNullValue = "__HIVE_DEFAULT_PARTITION__";

// Characters that a path or the form name=value cannot hold are written as %XX, as Hive does.
void append_path_text(std::string& target, std::string_view text, WorkPoll& poll) {
  poll(static_cast<int64_t>(text.size()));
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

[[noreturn]] void fail(std::string_view what, const std::string& path, const std::error_code& problem) {
  throw UserError(fmt::format("cannot {} {}: {}", what, path, problem.message()));
}

void make_folders(const std::string& path) {
  std::error_code problem;
  files::create_directories(path, problem);
  if (problem) fail("create", path, problem);
}

void move_folder(const std::string& from, const std::string& to) {
  std::error_code problem;
  files::rename(from, to, problem);
  if (problem) fail("replace", to, problem);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Beside the folder, so that it can be renamed.
std::string hidden_beside(const std::string& folder) {
  const files::path path(folder);
  const std::string name = fmt::format(".{}.{:08x}.part", path.filename().string(), std::random_device()());
  return (path.parent_path() / name).string();
}

}  // namespace

PartitionedFiles::PartitionedFiles(Target target, MakeFormat make_format)
    : target_{without_slash(std::move(target.folder)), std::move(target.partition_by), std::move(target.ending), target.may_replace},
      make_format_(std::move(make_format)),
      hidden_(hidden_beside(target_.folder)) {
  std::error_code problem;
  const bool is_folder = files::is_directory(target_.folder, problem);
  if (!is_folder && files::exists(target_.folder, problem))
    throw UserError(fmt::format("cannot write partitions to {}: it is a file", target_.folder));
  if (is_folder && !target_.may_replace && !files::is_empty(target_.folder, problem))
    throw UserError(fmt::format("the folder {} has files; OVERWRITE true replaces them", target_.folder));
  make_folders(hidden_);
}

PartitionedFiles::~PartitionedFiles() {
  close_file(false);
  std::error_code ignored;
  if (!hidden_.empty()) files::remove_all(hidden_, ignored);
}

void PartitionedFiles::begin(const std::vector<ResultColumn>& columns) {
  auto place_of = [&](const std::string& name) {
    auto found = std::find_if(columns.begin(), columns.end(), [&](const ResultColumn& column) { return column.name == name; });
    if (found == columns.end()) throw UserError(fmt::format("PARTITION_BY: the result has no column {}", name));
    return static_cast<size_t>(found - columns.begin());
  };
  for (const std::string& name : target_.partition_by) {
    partition_places_.push_back(place_of(name));
    const LogicalType type = columns[partition_places_.back()].type;
    // 0 and -0 are equal, but not as text: their rows would be mixed.
    if (type.kind() == TypeKind::Real || type.kind() == TypeKind::Double)
      throw UserError(fmt::format("PARTITION_BY {}: the column is {}; cast it to a type with exact values", name, type.to_string()));
    std::string escaped;
    append_path_text(escaped, name, poll_);
    partition_names_.push_back(std::move(escaped));
    values_.emplace_back(ValueStyle{kNullValue, "", append_path_text});
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (std::find(partition_places_.begin(), partition_places_.end(), i) != partition_places_.end()) continue;
    data_places_.push_back(i);
    data_columns_.push_back(columns[i]);
  }
  if (data_columns_.empty()) throw UserError("PARTITION_BY names all columns of the result: none is left for the files");
}

std::string PartitionedFiles::key_of(size_t row) const {
  std::string key;
  for (size_t i = 0; i < values_.size(); ++i) key += fmt::format("{}{}={}", i == 0 ? "" : "/", partition_names_[i], values_[i][row]);
  return key;
}

void PartitionedFiles::add(const Chunk& chunk) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i].assign(chunk.column(partition_places_[i]), poll_);
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
    if (!open_ || open_->key != key) {
      close_file(true);
      open_file(key);
    }
    const Chunk part = chunk.slice(static_cast<int64_t>(begin), static_cast<int64_t>(end - begin));
    std::vector<Column> columns;
    for (size_t place : data_places_) columns.push_back(part.column(place));
    open_->format->add(Chunk(std::move(columns), part.rows()));
    begin = end;
  }
}

void PartitionedFiles::open_file(std::string key) {
  const std::string folder = hidden_ + "/" + key;
  make_folders(folder);
  auto path = [&](int number) { return fmt::format("{}/data_{}.{}", folder, number, target_.ending); };
  int number = 0;
  while (files::exists(path(number))) ++number;
  auto file = std::make_unique<OutputFile>(path(number));
  std::unique_ptr<ResultReceiver> format = make_format_(*file);
  open_ = OpenFile{std::move(key), std::move(file), std::move(format)};
  open_->format->start(token_);
  open_->format->begin(data_columns_);
}

void PartitionedFiles::close_file(bool is_complete) {
  if (!open_) return;
  if (is_complete) {
    open_->format->end();
    open_->file->publish();
  }
  open_.reset();
}

void PartitionedFiles::end() {
  close_file(true);
}

void PartitionedFiles::publish() {
  std::error_code problem;
  if (!files::exists(target_.folder, problem)) {
    move_folder(hidden_, target_.folder);
    hidden_.clear();
    return;
  }
  // Nothing can replace a folder with files in one step: the old one moves away first.
  const std::string old = hidden_beside(target_.folder);
  move_folder(target_.folder, old);
  try {
    move_folder(hidden_, target_.folder);
  } catch (...) {
    files::rename(old, target_.folder, problem);
    throw;
  }
  hidden_.clear();
  files::remove_all(old, problem);
}

}  // namespace pistachio
