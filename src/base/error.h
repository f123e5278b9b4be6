// The error classes of the engine. Who throws which:
//   UserError      the user can fix it: wrong SQL, wrong setting, missing file. Carries the position in the SQL text, if there is one.
//   DataError      a file is damaged or inconsistent. Names file, row group, column and byte offset.
//   OutOfMemory    a reservation was refused. Names the largest holders and the setting to raise.
//   Cancelled      control flow: the query was cancelled or ran past its deadline.
//   PeerError      another rank failed. Names the rank.
//   InternalError  a bug in Pistachio (a failed check).
// Errors of libraries (c10, Arrow, UCX, errno) are translated at the edge where they enter.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace pistachio {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

class UserError : public Error {
 public:
  explicit UserError(std::string message, std::optional<int64_t> position = std::nullopt)
      : Error(std::move(message)), position_(position) {}
  // Byte offset into the statement text.
  std::optional<int64_t> position() const { return position_; }

 private:
  std::optional<int64_t> position_;
};

// Where in a file something is wrong. Unknown parts stay empty or negative and are omitted from the text.
struct DataLocation {
  std::string file;
  int64_t row_group = -1;
  std::string column;
  int64_t offset = -1;

  std::string to_string() const;
};

class DataError : public Error {
 public:
  DataError(std::string problem, DataLocation location);
  // The problem without the location, for callers that catch the error and know the location better.
  const std::string& problem() const { return problem_; }
  const DataLocation& location() const { return location_; }

 private:
  std::string problem_;
  DataLocation location_;
};

class OutOfMemory : public Error {
 public:
  using Error::Error;
};

class Cancelled : public Error {
 public:
  using Error::Error;
};

class PeerError : public Error {
 public:
  PeerError(int rank, const std::string& problem);
  // If the rank is unknown here.
  explicit PeerError(std::string problem) : Error(std::move(problem)), rank_(-1) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace pistachio
