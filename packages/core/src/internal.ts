// What Keyrail's own packages share. It may change in any release.
export {
  chainIdOf,
  checkCallOptions,
  checkNames,
  describeUrlProblem,
  isReadMethod,
  now,
  resolveTransport,
  startTimer,
  toProviderRpcError,
  toRevert,
} from './everything.ts'
export type { ResolvedTransport, Timer } from './everything.ts'
