/** The list of recipes that a new rule may begin with; it folds away once one is used. */
import { useState } from "preact/hooks";
import { ActionBadge } from "../parts.js";
import { type RuleRecipe, ruleRecipes } from "../rule-recipes.js";

/** A folding card with a button for each of `ruleRecipes`, its action, expression and note. */
export function Recipes(properties: { readonly isOpenAtFirst: boolean; readonly onUse: (recipe: RuleRecipe) => void }) {
  const { isOpenAtFirst, onUse } = properties;
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details class="card" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Start with a recipe</summary>
      <p class="dim">
        It fills in the rule below, which is not active yet, and tries it on stored sessions. Rules see requests without
        a session only while <a href="/docs/requests">request scoring</a> is on.
      </p>
      <ul class="recipes plain">
        {ruleRecipes.map((recipe) => (
          <li key={recipe.name}>
            <button
              type="button"
              class="quiet"
              onClick={() => {
                setOpen(false);
                onUse(recipe);
              }}
            >
              {recipe.name}
            </button>
            <ActionBadge action={recipe.action} />
            <code>{recipe.expression}</code>
            <span class="dim">{recipe.note}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
