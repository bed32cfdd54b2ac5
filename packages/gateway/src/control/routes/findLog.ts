import type { CsvSubject } from '../views/csv.ts'
import { getKeyNetwork } from '../views/toApiKeyView.ts'
import { requireAccountId } from '../route.ts'
import type { Caller, ControlParts } from '../route.ts'

/** A log, and the facts that name its CSV file. */
export interface LogTarget {
  readonly keyId: string
  readonly file: CsvSubject
}

/** Finds the log of an app of the caller's account. */
export const findAppLog = async (
  { storage }: ControlParts,
  caller: Caller,
  appId: string,
): Promise<LogTarget | undefined> => {
  const userId = requireAccountId(caller)
  const app = await storage.apps.find({ id: appId, userId })
  const key = await storage.keys.findByApp({ appId, userId })
  return app && key && { keyId: key.id, file: app }
}

/** Finds the log of an API key of the caller's account. */
export const findKeyLog = async (
  { storage }: ControlParts,
  caller: Caller,
  id: string,
): Promise<LogTarget | undefined> => {
  const key = await storage.keys.find({ id, userId: requireAccountId(caller) })
  return key?.appId === null ? { keyId: id, file: { id, name: key.name, network: getKeyNetwork(key) } } : undefined
}
