package io.mallometer.jmx;

/** The diagnosis on the process as of the latest poll. */
public interface DiagnosisMXBean extends Described.OfDiagnosis, Described.OfEach {}
