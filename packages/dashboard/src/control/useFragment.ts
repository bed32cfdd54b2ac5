import { useEffect, useState } from 'react'

const read = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

/** The fragment of the URL with which the page was opened. It is a secret, so it is removed from the URL at once. */
export function useFragment(): string {
  const [fragment] = useState(read)
  useEffect(() => {
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search)
  }, [])
  return fragment
}
