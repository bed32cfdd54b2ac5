import { useQuery } from '@tanstack/react-query'
import { deploymentQuery } from '../control/queries.ts'
import { Icon } from './Icon.tsx'

/** A link to a page of the documentation, in a new tab. Renders nothing if the operator has not set its URL. */
export function HelpLink(props: {
  /** The path without an extension, and the id of a heading: `dashboard#requests`. */
  readonly page: string
  /** The subject of the page, for screen readers. */
  readonly of: string
  /** @default an icon */
  readonly text?: string
}) {
  const { data } = useQuery(deploymentQuery)
  if (!data || data.docsUrl === null) return null
  const [path, heading] = props.page.split('#')
  return (
    <a
      className={props.text === undefined ? 'help' : 'button'}
      href={`${data.docsUrl}/${path}.html${heading === undefined ? '' : `#${heading}`}`}
      target="_blank"
      rel="noreferrer"
      aria-label={props.text === undefined ? `Documentation: ${props.of}` : undefined}
      title={props.text === undefined ? 'Documentation' : undefined}
    >
      {props.text ?? <Icon name="help" />}
    </a>
  )
}
