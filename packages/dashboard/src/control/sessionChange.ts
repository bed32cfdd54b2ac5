import type { QueryClient } from '@tanstack/react-query'
import { endPreloads } from './preloaded.ts'
import { forgetKeys } from './shownKeys.ts'

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('keyrail-session')

/** Forgets the data of the user who was logged in: here, and in other tabs if requested. */
export function changeSession(queries: QueryClient, { notifyTabs }: { readonly notifyTabs: boolean }): void {
  forgetKeys()
  endPreloads()
  queries.removeQueries({ predicate: ({ queryKey: [first] }) => first !== 'deployment' })
  if (notifyTabs) channel?.postMessage('changed')
}

/** Calls back when another tab has logged in or out. @returns A function that stops it. */
export function onSessionChange(callback: () => void): () => void {
  channel?.addEventListener('message', callback)
  return () => channel?.removeEventListener('message', callback)
}
