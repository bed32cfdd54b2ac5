import { describe, expect, test } from 'vitest'
import { needsPython, setUpPython } from '../../../../scripts/setUpPython.ts'
import { openEthers } from './libraries/ethersSocket.ts'
import type { OpenLibrarySocket } from './libraries/librarySocket.ts'
import { observeSocket } from './libraries/observe.ts'
import { socketBehavior, socketLibraries } from './libraries/socketBehavior.ts'
import type { SocketLibrary } from './libraries/socketBehavior.ts'
import { openViem } from './libraries/viemSocket.ts'
import { openWeb3Py } from './libraries/web3PySocket.ts'
import { openWeb3 } from './libraries/web3Socket.ts'

const python = await setUpPython()
const openers: Readonly<Record<SocketLibrary, OpenLibrarySocket>> = {
  viem: openViem,
  ethers: openEthers,
  'web3.js': openWeb3,
  'web3.py': openWeb3Py('python' in python ? python.python : ''),
}

// The table in docs/service/subscriptions.md has these results: see `socketsDocument.test.ts`.
describe.concurrent("a library's own WebSocket", () => {
  for (const library of socketLibraries)
    test(`${library} does what the table says`, library === 'web3.py' ? needsPython(python) : {}, async () => {
      expect(await observeSocket(openers[library])).toEqual(socketBehavior[library])
    })
})
