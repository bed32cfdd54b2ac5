import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

/** The search text of a list, which is also in the page's URL. */
export function useSearchText(): readonly [text: string, change: (text: string) => void] {
  const { search = '' } = useSearch({ strict: false })
  // The field must not wait for the router.
  const [text, setText] = useState(search)
  const navigate = useNavigate()
  return [
    text,
    (next) => {
      setText(next)
      void navigate({ to: '.', search: next.trim() === '' ? {} : { search: next }, replace: true, resetScroll: false })
    },
  ]
}
