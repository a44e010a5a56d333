/**
 * Texts that run `alert`, or load something from elsewhere, where they are taken for HTML, Markdown, a link, a template
 * or props instead of text. Kinds: OWASP's cheat sheet of filter evasion, mutation of markup, Markdown.
 */
export const PAYLOADS: readonly string[] = [
  '<script>alert(1)</script>',
  '"><script>alert(2)</script>',
  '\'"><img src=x onerror=alert(3)>',
  '</script><script>alert(4)</script>',
  '</textarea><img src=x onerror=alert(5)>',
  '</title><svg onload=alert(6)>',
  '<svg><script>alert(7)</script></svg>',
  '<svg><animate onbegin=alert(8) attributeName=x dur=1s>',
  '<body onload=alert(9)>',
  '<iframe src="javascript:alert(10)"></iframe>',
  '<iframe srcdoc="<script>alert(11)</script>"></iframe>',
  '<object data="javascript:alert(12)"></object>',
  '<embed src="javascript:alert(13)">',
  '<details open ontoggle=alert(14)>',
  '<input autofocus onfocus=alert(15)>',
  '<video><source onerror=alert(16)></video>',
  '<a href="javascript:alert(17)">text</a>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(18)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(19)>">',
  '<style>@import "https://elsewhere.invalid/20";</style>',
  '<link rel="stylesheet" href="https://elsewhere.invalid/21">',
  '<base href="https://elsewhere.invalid/22/">',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.invalid/23">',
  '<form action="https://elsewhere.invalid/24"><button autofocus>text</button></form>',
  '[text](javascript:alert(25))',
  '[text](jav&#x09;ascript:alert(26))',
  '[text](data:text/html;base64,PHNjcmlwdD5hbGVydCgyNyk8L3NjcmlwdD4=)',
  '![text](https://elsewhere.invalid/28)',
  '![text](x"onerror="alert(29))',
  '<javascript:alert(30)>',
  '[text]: javascript:alert(31)\n[text]',
  "{{constructor.constructor('alert(32)')()}}",
  '{"__proto__":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=alert(33)>"}}}',
  'javascript:alert(34)',
];

/** An object that a page which spreads it into an element would draw as HTML. */
export const HOSTILE_PROPS = {
  $$typeof: 'Symbol(react.transitional.element)',
  type: 'div',
  props: { dangerouslySetInnerHTML: { __html: '<img src=x onerror=alert(0)>' } },
};
