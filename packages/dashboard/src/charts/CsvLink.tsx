import type { MouseEvent } from 'react'
import { callApi } from '../control/callApi.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { loseSession } from '../control/lostSession.ts'
import { useDialogs } from '../parts/dialogs.ts'
import { Icon } from '../parts/Icon.tsx'

/** Downloads a table. Checks for a session first: without one, the file would contain an error. */
export function CsvLink({ href, of }: { readonly href: string; readonly of: string }) {
  const { say } = useDialogs()
  const download = async (): Promise<void> => {
    try {
      await callApi('GET /api/session')
    } catch (error) {
      if (isControlFailure(error, 'not_logged_in')) loseSession()
      else say('The file could not be downloaded. Try again.')
      return
    }
    location.assign(href)
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
