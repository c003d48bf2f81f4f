/** Call sites in the formats of other tools. Everything streams: no report is held in memory. */
@NullMarked
package io.mallometer.report;

import org.jspecify.annotations.NullMarked;
