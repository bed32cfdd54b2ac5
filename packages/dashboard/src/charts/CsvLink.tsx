import type { MouseEvent } from 'react'
import { getAccountHeader } from '../control/chosenAccount.ts'
import { loseSession } from '../control/lostSession.ts'
import { useDialogs } from '../parts/dialogs.ts'
import { Icon } from '../parts/Icon.tsx'

/** Downloads a table. A plain link could not send the header that names the account. */
export function CsvLink({ href, of }: { readonly href: string; readonly of: string }) {
  const { say } = useDialogs()
  const download = async (): Promise<void> => {
    const response = await fetch(href, { redirect: 'error', headers: getAccountHeader() }).catch(() => undefined)
    if (response?.status === 401) return loseSession()
    if (response?.ok !== true) return say('The file could not be downloaded. Try again.')
    const url = URL.createObjectURL(await response.blob())
    const link = document.createElement('a')
    link.href = url
    link.download = /filename="?([\w.-]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'keyrail.csv'
    link.click()
    // The download has started.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }
  return (
    <a
      className="button little"
      href={href}
      download
      aria-label={`CSV: ${of}`}
      onClick={(event: MouseEvent) => {
        event.preventDefault()
        void download()
      }}
    >
      <Icon name="down" />
      CSV
    </a>
  )
}
