# Makes the page of reports: -DTEMPLATE=page.html -DCHART=chart.min.js -DPAGE=OUT -DHEADER=OUT. Chart.js becomes part of the
# page's script, and that script's hash part of its policy and of a header.
file(READ ${TEMPLATE} page)
file(READ ${CHART} chart)
string(REPLACE "/* Chart.js */" "${chart}" page "${page}")
string(FIND "${page}" "<script>" begin REVERSE)
string(FIND "${page}" "</script>" end REVERSE)
math(EXPR begin "${begin} + 8")
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${page}" ${begin} ${length} script)
string(SHA256 digest "${script}")

# Base64: three hexadecimal digits are two characters, and the last digit of 256 bits is one, with zeros behind it.
set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
set(hash)
foreach(at RANGE 0 60 3)
    string(SUBSTRING ${digest} ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING ${letters} ${high} 1 first)
    string(SUBSTRING ${letters} ${low} 1 second)
    string(APPEND hash ${first}${second})
endforeach()
string(SUBSTRING ${digest} 63 1 digit)
math(EXPR last "0x${digit} << 2")
string(SUBSTRING ${letters} ${last} 1 letter)
string(APPEND hash ${letter} =)

string(REPLACE "@HASH@" "sha256-${hash}" page "${page}")
file(WRITE ${PAGE} "${page}")
file(WRITE ${HEADER} "/* The page of reports, as page.cmake makes it. */
#include <stddef.h>

#define TH_PAGE_SCRIPT \"'sha256-${hash}'\"

extern const unsigned char th_embedded_report_page[];
extern const size_t th_embedded_report_page_size;
")
