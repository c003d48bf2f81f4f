/**
 * Call sites in the formats of other tools. Everything streams: no report is held in memory as
 * text.
 */
@NullMarked
package io.mallometer.report;

import org.jspecify.annotations.NullMarked;
