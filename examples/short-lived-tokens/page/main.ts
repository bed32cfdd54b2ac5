import { createClient, getBlockNumber, isKeyrailError } from '@keyrail/fetch'
import { createTokenSource } from '../tokenSource.ts'

// This page has no key: the token identifies the app, and expires.
const client = createClient({ url: import.meta.env.VITE_KEYRAIL_URL, jwt: createTokenSource('/token') })
const status = document.querySelector('[role=status]') as HTMLElement

async function show(): Promise<void> {
  try {
    status.textContent = `Block ${await getBlockNumber(client)}`
  } catch (error) {
    if (!isKeyrailError(error)) throw error
    status.textContent = error.kind === 'auth' ? 'Please log in again.' : `Error: ${error.message}`
  }
}

document.querySelector('button')?.addEventListener('click', () => void show())
await show()
