/**
 * The web page: one HTML document that draws the JSON views. The server must offer the page and the
 * views in one folder.
 */
@NullMarked
package io.mallometer.page;

import org.jspecify.annotations.NullMarked;
