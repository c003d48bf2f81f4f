package io.mallometer.samples.leaky;

/**
 * A day's orders of one customer.
 *
 * @param number counts up from 1
 * @param customer whose orders they are
 * @param text the orders, one a line
 */
record Report(long number, String customer, String text) {}
