export type {
  AddressDetails,
  AddressOptions,
  ApiKeyAddressOptions,
  AppAddressOptions,
  Network,
  PerNetwork,
  Secret,
  WholeAddressOptions,
} from './address/addressOptions.ts'
export type { FailureKind } from './failure/failureKind.ts'
export { isKeyrailError, KeyrailError } from './failure/keyrailError.ts'
export type { FailureSource, KeyrailErrorFields, RpcErrorObject } from './failure/keyrailError.ts'
export type { Call, CallOptions, Carry, Layer, RequestArguments, Settle } from './transport/call.ts'
export { compose } from './transport/compose.ts'
export { createTransport } from './transport/createTransport.ts'
export type { Options, TransportOptions } from './transport/createTransport.ts'
export { deadline } from './transport/deadline.ts'
export type { DeadlineOptions } from './transport/deadline.ts'
export type { Request } from './transport/door.ts'
export { http } from './transport/http.ts'
export type { Endpoint, HttpOptions } from './transport/http.ts'
export { layer } from './transport/layer.ts'
export { retry } from './transport/retry.ts'
export type { RetryOptions } from './transport/retry.ts'
export type { Transport } from './transport/transport.ts'
