package io.mallometer.jmx;

/**
 * One claim on memory, as composite data.
 *
 * @param item what claims it
 * @param bytes how much it may take
 * @param basis {@code configured} or {@code measured}
 * @param detail the setting, or what was measured
 */
public record BudgetLine(String item, long bytes, String basis, String detail) {}
