import type { Finding } from './findings.ts';

/** What the library says about one topic, and where. */
function FindingCard({ topic, quotes }: Finding) {
  return (
    <article>
      <h3>{topic}</h3>
      {quotes.length === 0 && <p>The library says nothing about it.</p>}
      {quotes.map(({ file, heading, text }) => (
        <figure key={`${file} ${heading}`}>
          <blockquote>{text}</blockquote>
          <figcaption>
            {heading}, {file}
          </figcaption>
        </figure>
      ))}
    </article>
  );
}

export default { finding: FindingCard };
