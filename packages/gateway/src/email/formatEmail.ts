import type { Email } from './mailer.ts'

/** The parts of an email. */
export interface EmailParts {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly paragraphs: readonly string[]
  /** The link that the email is about. */
  readonly action?: { readonly title: string; readonly url: string }
  /** What to do if the email is unexpected. */
  readonly footer: string
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')

const body = 'font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;max-width:36em'
const button =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#1f5eff;color:#ffffff;text-decoration:none'
const small = 'font-size:14px;color:#555555'

/** Formats an email as plain text and as HTML without images, scripts and remote content. */
export const formatEmail = ({ to, subject, paragraphs, action, footer }: EmailParts): Email => {
  const link = action === undefined ? [] : [`${action.title}:\n${action.url}`]
  const htmlLink =
    action === undefined
      ? []
      : [
          `<p><a href="${escapeHtml(action.url)}" style="${button}">${escapeHtml(action.title)}</a></p>`,
          `<p style="${small}">${escapeHtml(action.url)}</p>`,
        ]
  return {
    to,
    subject,
    text: `${[...paragraphs, ...link, footer].join('\n\n')}\n`,
    html: [
      `<!doctype html><html lang="en"><body><div style="${body}">`,
      ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
      ...htmlLink,
      `<p style="${small}">${escapeHtml(footer)}</p>`,
      '</div></body></html>',
    ].join('\n'),
  }
}
