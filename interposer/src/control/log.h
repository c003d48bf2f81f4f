/* Writes mallometer's messages to standard error: whole lines in one write, without stdio and without allocating. */
#ifndef MALLOMETER_CONTROL_LOG_H
#define MALLOMETER_CONTROL_LOG_H

enum log_level { LOG_OFF = 0, LOG_WARN = 1, LOG_INFO = 2 };

/* The threshold of log_line(); LOG_WARN until configured. */
extern enum log_level log_threshold;

/* Writes "mallometer: " and the formatted line if `level` is at least as severe as the threshold. Preserves errno. */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#endif
