import { version } from '../version.ts'

/**
 * Returns the `user-agent` header, because some services reject requests without one. It is absent in browsers, which send their own: a server would
 * have to allow another one by CORS.
 *
 * @see RFC 9110 section 10.1.5
 */
export const getUserAgentHeader = (): { readonly 'user-agent'?: string } =>
  String(globalThis.navigator?.userAgent).startsWith('Mozilla') ? {} : { 'user-agent': `keyrail/${version}` }
