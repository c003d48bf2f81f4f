/**
 * Reports on call sites in the formats of other tools. All reports are streamed, so no report is in
 * memory as text.
 */
@NullMarked
package io.mallometer.report;

import org.jspecify.annotations.NullMarked;
