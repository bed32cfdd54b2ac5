import type { QueryClient } from '@tanstack/react-query'
import { forgetKeys } from './shownKeys.ts'

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('keyrail-session')

/** Forgets what belonged to whoever was logged in, here and, where it is told, in the other tabs. */
export function changeSession(queries: QueryClient, { tell }: { readonly tell: boolean }): void {
  forgetKeys()
  queries.removeQueries({ predicate: ({ queryKey: [first] }) => first !== 'deployment' })
  if (tell) channel?.postMessage('changed')
}

/** Calls back when another tab has logged in or out. @returns What ends that. */
export function onSessionChange(callback: () => void): () => void {
  channel?.addEventListener('message', callback)
  return () => channel?.removeEventListener('message', callback)
}
