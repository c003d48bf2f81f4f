/**
 * Reports on call sites in the formats of other tools. Reports are streamed, so a whole report is
 * never in memory.
 */
@NullMarked
package io.mallometer.report;

import org.jspecify.annotations.NullMarked;
