import { createClient, getBlockNumber, isKeyrailError } from '@keyrail/fetch'
import { renewingToken } from '../renewingToken.ts'

// No key is in this page: the token says which app it is for, and ends by itself.
const client = createClient({ url: import.meta.env.VITE_KEYRAIL_URL, jwt: renewingToken('/token') })
const status = document.querySelector('[role=status]') as HTMLElement

async function show(): Promise<void> {
  try {
    status.textContent = `Block ${await getBlockNumber(client)}`
  } catch (error) {
    if (!isKeyrailError(error)) throw error
    status.textContent = error.kind === 'auth' ? 'Please log in again.' : `Not now: ${error.message}`
  }
}

document.querySelector('button')?.addEventListener('click', () => void show())
await show()
