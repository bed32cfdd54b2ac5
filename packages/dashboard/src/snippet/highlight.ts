import type { SnippetLanguage } from '@keyrail/snippets'

/** A part of a program, and its kind. */
export interface Token {
  readonly text: string
  readonly kind: 'plain' | 'keyword' | 'string' | 'number' | 'comment'
}

const js =
  /(?<comment>\/\/[^\n]*)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?<number>\b\d[\d_]*(?:\.\d+)?(?:e\d+)?n?\b)|(?<keyword>\b(?:as|async|await|const|else|false|for|from|function|if|import|let|new|null|of|return|throw|true|undefined|while)\b)/g
const python =
  /(?<comment>#[^\n]*)|(?<string>f?"(?:[^"\\\n]|\\.)*"|f?'(?:[^'\\\n]|\\.)*')|(?<number>\b\d[\d_]*(?:\.\d+)?\b)|(?<keyword>\b(?:and|as|else|False|for|from|if|import|in|None|not|or|print|True|while)\b)/g
const shell =
  /(?<comment>(?:^|(?<=\s))#[^\n]*)|(?<string>'[^']*'|"(?:[^"\\]|\\.)*")|(?<keyword>\b(?:curl|echo|printf|sed)\b|--?[a-z][a-z-]*)/g

const rules: Readonly<Record<SnippetLanguage, RegExp>> = { javascript: js, typescript: js, python, shell }

/** Splits a program into parts of one color each. Joined, the parts are the program. */
export function highlight(text: string, language: SnippetLanguage): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of text.matchAll(rules[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? ['plain']
    if (match.index > end) tokens.push({ text: text.slice(end, match.index), kind: 'plain' })
    tokens.push({ text: match[0], kind: kind as Token['kind'] })
    end = match.index + match[0].length
  }
  if (end < text.length) tokens.push({ text: text.slice(end), kind: 'plain' })
  return tokens
}
