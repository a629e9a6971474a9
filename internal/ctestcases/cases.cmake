# ctest reads this in place of the build folder's CTestTestfile.cmake, whose tests it takes
# in. A test that runs a program of GoogleTest, Catch2, doctest or Boost.Test also writes what
# the cases in it did, into a file that is named by the digest of the test's name.

cmake_policy(PUSH)
cmake_minimum_required(VERSION 3.21)

set(cases_folder [==[{{report_dir}}/.cases]==])
file(TO_CMAKE_PATH "${cases_folder}" cases_folder)
file(MAKE_DIRECTORY "${cases_folder}")

# Of each framework: what its programs hold, also those that use it as a shared library; an
# argument that selects one case; how a program says that it reads the options, and what it
# prints then; the options. FILE is the file without its extension.
set(cases_boost "5boost9unit_test" "^(-t|--run_test)"
  --list_content "[*]\n" --log_format=XML --log_level=test_suite --log_sink=FILE.xml
  --report_format=XML --report_level=detailed --report_sink=FILE.report.xml)
set(cases_gtest "gtest_list_tests|N7testing8internal" "^--gtest_filter=[^*?:]+$"
  --gtest_list_tests "\\.\n  " "--gtest_output=xml:FILE.xml")
set(cases_doctest dt-list-reporters "^-+(dt-)?(tc|test-case)=[^*]+$"
  --dt-list-reporters "name: xml" --dt-reporters=xml --dt-out=FILE.xml)
set(cases_catch2 "list-reporters|N5Catch" "^[^][*~-]+$"
  --list-reporters "xml|XML" --reporter xml --out FILE.xml)
set(cases_none "" "")

function(cases_framework result program)
  get_property(framework GLOBAL PROPERTY "framework of ${program}")
  if(NOT framework)
    set(framework none)
    if(EXISTS "${program}" AND NOT IS_DIRECTORY "${program}")
      file(STRINGS "${program}" held
        REGEX "gtest_list_tests|list-reporters|N7testing8internal|N5Catch|5boost9unit_test")
      foreach(one boost catch2 doctest gtest)
        list(GET cases_${one} 0 word)
        if(held MATCHES "${word}")
          set(framework ${one})
        endif()
      endforeach()
    endif()
    set_property(GLOBAL PROPERTY "framework of ${program}" ${framework})
  endif()
  set(${result} ${framework} PARENT_SCOPE)
endfunction()

# Tests that ctest judges by their output, or whose outcome it reverses, stay as they are.
function(cases_judged result name)
  get_property(text GLOBAL PROPERTY "text of ${CMAKE_CURRENT_LIST_FILE}")
  if(NOT text)
    file(READ "${CMAKE_CURRENT_LIST_FILE}" text)
    set_property(GLOBAL PROPERTY "text of ${CMAKE_CURRENT_LIST_FILE}" "${text}")
  endif()
  set(${result} FALSE PARENT_SCOPE)
  foreach(written "[=[${name}]=]" "\"${name}\"" "${name}")
    string(FIND "${text}" "set_tests_properties(${written} " at)
    if(NOT at LESS 0)
      string(SUBSTRING "${text}" ${at} 4000 properties)
      string(REGEX REPLACE "\n.*" "" properties "${properties}")
      if(properties MATCHES " (WILL_FAIL|[A-Z]+_REGULAR_EXPRESSION) ")
        set(${result} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# The options for the command with these words, "" if its program does not understand them.
function(cases_options result framework name words)
  set(options ${cases_${framework}})
  list(POP_FRONT options mark single asked answer)
  string(SHA256 file "${name}")
  set(file "${cases_folder}/${file}")
  cmake_language(EVAL CODE "execute_process(COMMAND ${words} ${asked}
    OUTPUT_FILE [=====[${file}.list]=====] ERROR_VARIABLE errors TIMEOUT 60)")
  file(READ "${file}.list" said)
  set(added "")
  if("${said}${errors}" MATCHES "${answer}")
    file(APPEND "${file}.list" "\n")
    foreach(option IN LISTS options)
      string(REPLACE FILE "${file}" option "${option}")
      string(APPEND added " [=====[${option}]=====]")
    endforeach()
  else()
    file(REMOVE "${file}.list")
  endif()
  set(${result} "${added}" PARENT_SCOPE)
endfunction()

# This is ctest's own command with the options added. Tests that CMake found case by case
# are in files of other names, and keep their words.
function(add_test name program)
  get_filename_component(file "${CMAKE_CURRENT_LIST_FILE}" NAME)
  get_filename_component(found "${program}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_LIST_DIR}")
  cases_framework(framework "${found}")
  cases_judged(judged "${name}")
  if(NOT framework STREQUAL none)
    set(program "${found}")
  endif()
  list(GET cases_${framework} 1 single)
  set(words " [=====[${program}]=====]")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    if(i GREATER 1)
      string(APPEND words " [=====[${ARGV${i}}]=====]")
    endif()
    if(i GREATER 1 AND single AND "${ARGV${i}}" MATCHES "${single}")
      set(framework none)
    endif()
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY "words of tests" " ${found} ${words}")
  set(options "")
  if(NOT framework STREQUAL none AND NOT judged AND file STREQUAL "CTestTestfile.cmake")
    cases_options(options ${framework} "${name}" "${words}")
  endif()
  cmake_language(EVAL CODE "_add_test([=====[${name}]=====]${words}${options})")
endfunction()

cmake_policy(POP)
subdirs("$ENV{PWD}/{{tests}}")
include([==[{{report_dir}}/.ctest/programs.cmake]==])
