// Damages a good Parquet file in one of many ways, from a seed: flipped bits, overwritten, inserted and removed bytes, truncation, splices,
// lengths set to huge values. Half of the damage hits the footer and page headers, where a byte matters most.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pistachio::test {

class FileMutator {
 public:
  // Locates the footer and the page headers of a good file.
  explicit FileMutator(std::shared_ptr<arrow::Buffer> file);

  struct Mutant {
    std::vector<uint8_t> bytes;
    std::string what;  // for messages: "flip a bit at 1234 (page header)"
  };
  // The same seed always yields the same mutant.
  Mutant mutate(uint64_t seed) const;

 private:
  struct Place {
    size_t offset;
    const char* name;
  };
  Place choose_place(uint64_t random, uint64_t second) const;

  std::shared_ptr<arrow::Buffer> file_;
  size_t footer_begin_ = 0;
  std::vector<size_t> chunk_begins_;  // of column chunks, where page headers are
};

}  // namespace pistachio::test
