import type { Page } from 'playwright-core'
import { callNode } from '../../packages/cli/src/node/callNode.ts'

/** A wallet in the browser. Its only account is one of the node. */
export interface TestWallet {
  /** Whether the user declines transactions. */
  declines: boolean
  /** Whether it knows the chain of the page. */
  knowsChain: boolean
  /** Notifies the page that the user chose other accounts. */
  readonly choose: (accounts: readonly string[]) => Promise<void>
}

/** Adds a wallet to a page, before any other script runs there. @see EIP-1193, EIP-6963 */
export async function injectWallet(page: Page, node: string, account: string): Promise<TestWallet> {
  const wallet: TestWallet = {
    declines: false,
    knowsChain: true,
    choose: async (accounts) => void (await page.evaluate(`chooseInTestWallet(${JSON.stringify(accounts)})`)),
  }
  await page.exposeFunction('callTestWallet', async (method: string, params: readonly unknown[]) => {
    if (/_(?:requestAccounts|accounts)$/.test(method)) return { result: [account] }
    if (method === 'wallet_switchEthereumChain')
      return wallet.knowsChain ? { result: null } : { error: { code: 4902, message: 'Unrecognized chain' } }
    if (method === 'eth_sendTransaction' && wallet.declines) return { error: { code: 4001, message: 'Declined' } }
    return { result: await callNode(node, method, params) }
  })
  await page.addInitScript(`
    const listeners = new Set()
    globalThis.chooseInTestWallet = (accounts) => listeners.forEach((listener) => listener(accounts))
    const provider = {
      request: async ({ method, params = [] }) => {
        const { result, error } = await callTestWallet(method, params)
        if (error) throw Object.assign(new Error(error.message), error)
        return result
      },
      on: (event, listener) => event === 'accountsChanged' && listeners.add(listener),
      removeListener: (event, listener) => listeners.delete(listener),
    }
    const detail = Object.freeze({ info: { uuid: crypto.randomUUID(), name: 'Test wallet', icon: '', rdns: 'example.test' }, provider })
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    window.addEventListener('eip6963:requestProvider', announce)
    announce()
  `)
  return wallet
}
