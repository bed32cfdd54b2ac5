import { createClient, getBlockNumber, isKeyrailError } from '@keyrail/fetch'
import { renewingToken } from '../renewingToken.ts'

// The key alone opens nothing: each call needs a token as well, which ends by itself.
const client = createClient({ ...keyrailAddress, jwt: renewingToken('/token') })
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
