package io.mallometer.spring;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Why a request has no other answer.
 *
 * @param reason what is wrong, and what would be right
 */
public record RefusalDescriptor(String reason) implements OperationResponseBody {}
