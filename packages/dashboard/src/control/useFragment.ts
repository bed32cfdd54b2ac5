import { useEffect, useState } from 'react'

const read = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

/** What stood in the fragment of the page's address when one came. It is a secret, so it is taken out of the address at once. */
export function useFragment(): string {
  const [fragment] = useState(read)
  useEffect(() => {
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search)
  }, [])
  return fragment
}
