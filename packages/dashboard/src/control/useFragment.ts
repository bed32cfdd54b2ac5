import { useEffect, useState } from 'react'

const read = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ''
  }
}

/**
 * The fragment of the URL with which the page was opened, or with which a link was opened in a tab that already shows the page. It is a secret, so it
 * is removed from the URL at once.
 */
export function useFragment(): string {
  const [fragment, setFragment] = useState(read)
  useEffect(() => {
    const take = (): void => {
      if (location.hash === '') return
      setFragment(read())
      history.replaceState(history.state, '', location.pathname + location.search)
    }
    take()
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  return fragment
}
