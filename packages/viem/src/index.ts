export { keyrail } from './keyrail.ts'
export { keyrailOf } from './keyrailOf.ts'
export type { KeyrailTransport, KeyrailTransportConfig } from './keyrailTransport.ts'
