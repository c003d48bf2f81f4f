/**
 * Reports on call sites in the formats of other tools. All are streamed, so no report is in memory
 * as a whole.
 */
@NullMarked
package io.mallometer.report;

import org.jspecify.annotations.NullMarked;
