import { startManyKeys } from '@keyrail/gateway/test/startManyKeys.ts'
import { reportUsage } from '../../src/gateway/reportUsage.ts'

// The target of a storage with many keys. It uses parts that the package does not export, so it is in the test folder.

const storages: Readonly<
  Record<string, { readonly stored: number; readonly used: number; readonly metering: boolean }>
> = {
  manyKeys: { stored: 10_000, used: 10_000, metering: true },
  manyKeysUnmetered: { stored: 10_000, used: 10_000, metering: false },
  fewStored: { stored: 10, used: 10, metering: true },
  millionStored: { stored: 1_000_000, used: 10_000, metering: true },
}

const [, , name = '', upstream = ''] = process.argv
const storage = storages[name]
if (storage === undefined) throw new Error(`there is no storage '${name}'`)
const { url, paths } = await startManyKeys({ upstream, ...storage })
reportUsage({ url, paths: { accepted: paths } })
