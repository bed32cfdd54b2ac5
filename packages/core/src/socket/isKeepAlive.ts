/**
 * Whether a message is empty or a word such as `ping`, which some servers and proxies send to keep a connection alive. No notification is.
 *
 * @param text - The message. It may be of any length.
 */
export const isKeepAlive = (text: string): boolean => /^[\w-]*$/.test(text.trim())
