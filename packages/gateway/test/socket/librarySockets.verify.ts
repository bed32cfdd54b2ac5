import { describe, expect, test } from 'vitest'
import { setUpPython } from '../../../../scripts/setUpPython.ts'
import { openEthers } from './libraries/ethersSocket.ts'
import type { OpenLibrarySocket } from './libraries/librarySocket.ts'
import { observeSocket } from './libraries/observe.ts'
import { socketBehavior, socketLibraries } from './libraries/socketBehavior.ts'
import type { SocketLibrary } from './libraries/socketBehavior.ts'
import { openViem } from './libraries/viemSocket.ts'
import { openWeb3Py } from './libraries/web3PySocket.ts'
import { openWeb3 } from './libraries/web3Socket.ts'

const python = await setUpPython()
/** With KEYRAIL_TEST_ALL, a missing interpreter is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'
const missing = 'missing' in python ? python.missing : undefined
if (missing !== undefined && !mustRun) console.log(`web3.py: its test is skipped: ${missing}`)

const openers: Readonly<Record<SocketLibrary, OpenLibrarySocket>> = {
  viem: openViem,
  ethers: openEthers,
  'web3.js': openWeb3,
  'web3.py': openWeb3Py('python' in python ? python.python : ''),
}

// The table in docs/service/subscriptions.md has these results: see `socketsDocument.test.ts`.
describe.concurrent("a library's own WebSocket", () => {
  test.each(socketLibraries.filter((library) => library !== 'web3.py' || mustRun || missing === undefined))(
    '%s does what the table says',
    async (library) => {
      if (library === 'web3.py' && missing !== undefined) throw new Error(missing)
      expect(await observeSocket(openers[library])).toEqual(socketBehavior[library])
    },
  )
})
