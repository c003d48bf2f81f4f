package io.mallometer.samples.leaky;

/**
 * A day's orders of one customer.
 *
 * @param number the number of the report, from 1
 * @param customer the customer of the orders
 * @param text the orders, one per line
 */
record Report(long number, String customer, String text) {}
