"""Sixty-odd messy tables and the kinds that a careful person would choose for their columns.

Most layouts are those of well-known public tables, rebuilt from their published column descriptions with
made-up values; the others imitate exports of spreadsheets, clinics and surveys. A line is

    name | kind | how the cells are made

Several kinds that are equally good are separated by "/". "identifier" and "ignored" columns are set aside,
and "several" is a column in which people tick more than one option. `make_cells` explains the third part.

`DESIGN` was used to design the rules of inference. `HELD_OUT` was written before the rules and not looked
at while they were designed.
"""

# ruff: noqa: E501  (a column is one line)

import re
import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Column:
    """A column of the corpus: the acceptable kinds, and the cells as text."""

    name: str
    kinds: tuple[str, ...]
    cells: list[str]


def read_corpus(text: str) -> dict[str, list[Column]]:
    """Return the columns of each table."""
    tables: dict[str, list[Column]] = {}
    for block in text.strip().split("\n\n"):
        heading, *lines = block.strip().split("\n")
        title, _, n_rows = heading.partition(", ")
        tables[title] = [_read_column(title, line, int(n_rows or 300)) for line in lines]
    return tables


def _read_column(title: str, line: str, n_rows: int) -> Column:
    name, kinds, recipe = (part.strip() for part in line.split(" | ", 2))
    rng = np.random.default_rng(zlib.crc32(f"{title}/{name}".encode()))
    return Column(name, tuple(kinds.split("/")), make_cells(recipe, n_rows, rng))


def make_cells(recipe: str, n_rows: int, rng: np.random.Generator) -> list[str]:
    """Return cells as text.

    pick a, b, c        one of these texts; the first ones are more frequent (use ";" if they hold commas)
    normal 50 10 1      mean, standard deviation, digits; "up" makes it lognormal with this median
    whole 1 6           whole numbers in this range, all equally likely
    count 2.5           overdispersed counts with this mean
    zeros 5000          an amount that is mostly 0
    codes 30 1000 9999  this many different codes from this range
    words 200           this many different made-up names
    serial 1            1, 2, 3, ...
    tick a, b, c        any subset of these, joined by "; "
    prose, dates        sentences, dates

    A template in double angle brackets, such as <<$#>>, is put around the number; <<#,>> groups its digits
    by commas. "also x y" replaces some cells by these texts, and "holes" empties some.
    """
    recipe, *extras = recipe.split(" also ")
    recipe, has_holes, _ = recipe.partition(" holes")
    recipe, _, template = recipe.partition(" <<")
    verb, _, rest = recipe.partition(" ")
    cells = _MAKERS[verb](rest.strip(), n_rows, rng)
    if template:
        cells = [_format_number(float(cell), template.removesuffix(">>")) for cell in cells]
    for extra in extras:
        for text in extra.replace(" holes", "").split(" "):
            for row in rng.choice(n_rows, max(3, n_rows // 25), replace=False):
                cells[row] = text.replace("_", " ")
    if has_holes or any(" holes" in extra for extra in extras):
        for row in rng.choice(n_rows, n_rows // 8, replace=False):
            cells[row] = ""
    return cells


def _format_number(number: float, template: str) -> str:
    if "'" in template and '"' in template:
        return template.replace("#", str(int(number) // 12), 1).replace("#", str(int(number) % 12), 1)
    match = re.search(r"#([,.'_]?)(?:\[([.,])(\d)\])?", template)
    assert match is not None
    text = f"{number:,.{int(match[3] or 0)}f}"
    marks = {",": match[1].replace("_", "\u202f"), ".": match[2] or "."}
    text = "".join(marks.get(character, character) for character in text)
    return template[: match.start()] + text + template[match.end() :]


def _pick(rest, n_rows, rng):
    options = [option.strip() for option in rest.split(";" if ";" in rest else ",")]
    weights = 1 / np.arange(2, len(options) + 2) ** 0.5
    return [options[index] for index in rng.choice(len(options), n_rows, p=weights / weights.sum())]


def _normal(rest, n_rows, rng):
    is_skewed = rest.endswith(" up")
    center, spread, *digits = map(float, rest.removesuffix(" up").split())
    noise = rng.normal(size=n_rows)
    values = center * np.exp(spread * noise) if is_skewed else center + spread * noise
    return [f"{value + 0.0:.{int(digits[0]) if digits else 0}f}" for value in values]


def _whole(rest, n_rows, rng):
    low, high = map(int, rest.split())
    return [str(value) for value in rng.integers(low, high + 1, n_rows)]


def _count(rest, n_rows, rng):
    return [str(value) for value in rng.negative_binomial(1.0, 1 / (1 + float(rest)), n_rows)]


def _zeros(rest, n_rows, rng):
    amounts = np.rint(float(rest) * np.exp(0.8 * rng.normal(size=n_rows)))
    return [str(int(value)) for value in np.where(rng.random(n_rows) < 0.85, 0, amounts)]


def _codes(rest, n_rows, rng):
    n_codes, low, high = map(int, rest.split())
    codes = rng.choice(np.arange(low, high + 1), n_codes, replace=False)
    return [str(code) for code in rng.choice(codes, n_rows)]


def _words(rest, n_rows, rng):
    starts, ends = ["Ab", "Bel", "Cor", "Dun", "El", "Far", "Gal", "Hol"], ["ton", "by", "ford", "wick"]
    names = [
        f"{starts[n % 8]}{'aeiou'[n // 8 % 5]}{ends[n // 40 % 4]}{'' if n < 160 else n}"
        for n in range(int(rest))
    ]
    return [str(name) for name in rng.choice(names, n_rows)]


def _serial(rest, n_rows, _rng):
    return [str(int(rest) + row) for row in range(n_rows)]


def _tick(rest, n_rows, rng):
    options = [option.strip() for option in rest.split(",")]
    ticked = rng.random((n_rows, len(options))) < 0.4
    ticked[np.arange(n_rows), rng.integers(len(options), size=n_rows)] = True
    return [
        "; ".join(option for option, is_on in zip(options, row, strict=True) if is_on) for row in ticked
    ]


def _prose(_rest, n_rows, rng):
    words = ["the", "respondent", "was", "late", "and", "told", "us", "about", "work", "travel", "plans"]
    return [" ".join(rng.choice(words, 7)) + f" {row}" for row in range(n_rows)]


def _dates(_rest, n_rows, rng):
    days = np.datetime64("2019-01-01") + rng.integers(0, 900, n_rows).astype("timedelta64[D]")
    return [str(day) for day in days]


_MAKERS = {
    **{"pick": _pick, "normal": _normal, "whole": _whole, "count": _count, "zeros": _zeros},
    **{"codes": _codes, "words": _words, "serial": _serial, "tick": _tick, "prose": _prose},
    **{"dates": _dates},
}

DESIGN = """
titanic passengers, 891
survived | binary | pick 0, 1
pclass | ordinal | pick 3, 1, 2
sex | binary | pick male, female
age | real | normal 30 9 1 holes
sibsp | count/ordinal | count 0.5
parch | count/ordinal | count 0.4
fare | real | normal 20 0.8 4 up
embarked | category | pick S, C, Q
class | ordinal | pick Third, First, Second
who | category | pick man, woman, child
adult_male | binary | pick True, False
embark_town | category | pick Southampton, Cherbourg, Queenstown
alive | binary | pick no, yes

restaurant tips
total_bill | real | normal 18 0.4 2 up
tip | real | normal 3 0.3 2 up
smoker | binary | pick No, Yes
day | category/ordinal | pick Sat, Sun, Thur, Fri
time | binary | pick Dinner, Lunch
size | ordinal/count | pick 2, 3, 4, 1, 5, 6

penguins, 344
species | category | pick Adelie, Gentoo, Chinstrap
island | category | pick Biscoe, Dream, Torgersen
bill_length_mm | real | normal 44 5 1 holes
body_mass_g | real | normal 4200 700 holes
sex | binary | pick Male, Female holes

diamonds, 1000
carat | real | normal 0.7 0.5 2 up
cut | ordinal | pick Ideal, Premium, Very Good, Good, Fair
clarity | ordinal/category | pick SI1, VS2, SI2, VS1, VVS2, VVS1, IF, I1
depth | real | normal 62 1.4 1
price | real | normal 2400 0.9 up
x | real | normal 5.7 1.1 2

houses sold in Ames, 1200
MSSubClass | category | pick 20, 60, 50, 120, 30, 160, 70, 80, 90, 190, 85, 75, 45, 180, 40
MSZoning | category | pick RL, RM, FV, RH, C (all)
LotArea | real | normal 9500 0.4 up
Street | binary | pick Pave, Grvl
OverallQual | ordinal | whole 1 10
YearBuilt | real | whole 1880 2010
ExterQual | ordinal | pick TA, Gd, Ex, Fa
BsmtQual | ordinal | pick TA, Gd, Ex, Fa, Po holes
BsmtExposure | ordinal | pick No, Av, Gd, Mn
HeatingQC | ordinal | pick Ex, TA, Gd, Fa, Po
FullBath | count/ordinal | pick 2, 1, 3, 0
GarageFinish | ordinal/category | pick Unf, RFn, Fin
MoSold | ordinal | whole 1 12
SalePrice | real | normal 160000 0.4 up

census income, 1000
age | real | whole 17 90
workclass | category | pick Private, Self-emp-not-inc, Local-gov, State-gov, Federal-gov also ?
fnlwgt | real | normal 180000 0.5 up
education | ordinal/category | pick HS-grad, Some-college, Bachelors, Masters, Assoc-voc, 11th, 10th, Doctorate
education-num | ordinal/real | whole 1 16
marital-status | category | pick Married-civ-spouse, Never-married, Divorced, Separated, Widowed
capital-gain | real | zeros 7000
hours-per-week | real | normal 40 9
native-country | category | pick United-States, Mexico, Philippines, Germany, Canada, India, Cuba
income | binary | pick <=50K, >50K

credit applications, 1000
checking_status | category | pick A14, A11, A12, A13
duration_in_month | real | pick 12, 24, 18, 36, 6, 15, 9, 48, 30, 21, 10, 60, 27, 42, 11, 20
credit_amount | real | normal 2300 0.8 up
installment_rate | ordinal/real | pick 4, 2, 3, 1
residence_since | ordinal/count/real | whole 1 4
number_of_credits | count/ordinal | pick 1, 2, 3, 4
foreign_worker | binary | pick A201, A202

bank calls, 1200
age | real | normal 41 10
job | category | pick management, technician, blue-collar, admin., services, retired, student
marital | category | pick married, single, divorced
balance | real | normal 1300 2000
contact | category | pick cellular, unknown, telephone
day | real | whole 1 31
month | ordinal | pick may, jul, aug, jun, nov, apr, feb, jan, oct, sep, mar, dec
duration | real | normal 180 0.8 up
campaign | count | count 2.5
previous | count | count 0.6
poutcome | category | pick unknown, failure, other, success

heart disease
age | real | normal 54 9
sex | binary | pick 1, 0
cp | category/ordinal | pick 4, 3, 2, 1
trestbps | real | normal 131 17
fbs | binary | pick 0, 1
thalach | real | normal 149 22
oldpeak | real | normal 0.8 0.9 1 up
ca | count/ordinal | pick 0, 1, 2, 3
num | ordinal | pick 0, 1, 2, 3, 4

card defaults, 1000
ID | identifier | serial 1
LIMIT_BAL | real | normal 140000 0.7 up
SEX | binary | pick 2, 1
MARRIAGE | category | pick 2, 1, 3
AGE | real | normal 35 8
PAY_AMT1 | real | zeros 4000
default | binary | pick 0, 1

phone customers, 1000
customerID | identifier | serial 7000 <<#-XK>>
SeniorCitizen | binary | pick 0, 1
Partner | binary | pick No, Yes
tenure | real/count | whole 0 72
MultipleLines | category | pick No, Yes, No phone service
InternetService | category | pick Fiber optic, DSL, No
Contract | category/ordinal | pick Month-to-month, Two year, One year
MonthlyCharges | real | normal 65 25 2
Churn | binary | pick No, Yes

customer survey
respondent | identifier | serial 1001
overall | ordinal | pick 4 - Good; 5 - Very good; 3 - Fair; 2 - Poor; 1 - Very poor
recommend | ordinal | pick Likely, Very likely, Neutral, Unlikely, Very unlikely
income_band | ordinal | pick $25,000 - $49,999; $50,000 - $74,999; Less than $25,000; $75,000 - $99,999; $100,000 or more
tools | several | tick Excel, R, Python, Stata
comment | ignored | prose
visits last year | count | count 3

price list
sku | identifier | serial 5500 <<SKU-#>>
list price | real | normal 900 0.7 2 up <<$#,[.2]>>
discount | real | whole 0 40 <<#%>>
weight | real | normal 12 4 1 <<#[.1] kg>>
stock | real/count | normal 300 0.5 up
zip | category | pick 02139, 10001, 60601, 94103, 00501

Mitgliederliste
Mitglied_Nr | identifier | serial 1
Beitrag | real | normal 33000 0.5 2 up <<#.[,2]>>
Größe | real | normal 1.72 0.1 2 <<#[,2]>>
Gewicht | real | normal 74 12 <<# kg>>
PLZ | category | pick 01067, 10115, 20095, 80331, 04109
Familienstand | category | pick ledig, verheiratet, geschieden, verwitwet

clinic intake
mrn | identifier | codes 300 100000 999999
temperature | real | normal 36.8 0.6 1 <<#[.1] °C>>
height | real | whole 58 76 <<#'#">>
weight | real | normal 160 30 <<# lbs>>
pain | ordinal | pick none, mild, moderate, severe
blood group | category | pick O+, A+, B+, AB+, O-, A-
triage | ordinal/category | pick 3, 2, 4, 1, 5
allergies | binary | pick no, yes

health and nutrition, 1000
SEQN | identifier | serial 83732
RIAGENDR | binary | pick 1, 2
race_ethnicity | category | pick 3, 4, 1, 5, 2
marital_status | category | pick 1, 5, 3, 6, 2, 4
education_level | ordinal | whole 1 5
stratum | category | whole 119 133
weight_2yr | real | normal 25000 0.8 6 up
bmi | real | normal 28 6 1 holes

employees, 1000
Age | real | normal 37 9
BusinessTravel | category/ordinal | pick Travel_Rarely, Travel_Frequently, Non-Travel
DailyRate | real | whole 100 1500
DistanceFromHome | real/count | whole 1 29
Education | ordinal | whole 1 5
EmployeeNumber | identifier | serial 1
EnvironmentSatisfaction | ordinal | whole 1 4
JobLevel | ordinal | whole 1 5
MonthlyIncome | real | normal 5000 0.6 up
NumCompaniesWorked | count/ordinal | count 2.5
OverTime | binary | pick No, Yes
StockOptionLevel | ordinal | whole 0 3
YearsAtCompany | real/count | count 7

cars of the seventies
mpg | real | normal 23 7 1
cylinders | ordinal/count | pick 4, 8, 6, 3, 5
displacement | real | normal 150 0.5 up
model_year | real/ordinal | whole 70 82
origin | category | pick 1, 3, 2
name | ignored/category/identifier | words 250

rented bikes, 1000
instant | identifier | serial 1
dteday | ignored | dates
season | ordinal/category | whole 1 4
mnth | ordinal | whole 1 12
hr | real/ordinal | whole 0 23
weekday | ordinal/category | whole 0 6
weathersit | category/ordinal | pick 1, 2, 3, 4
hum | real | normal 0.6 0.1 2
casual | real/count | normal 20 0.9 up

car evaluation, 600
buying | ordinal | pick vhigh, high, med, low
doors | ordinal | pick 2, 3, 4, 5more
lug_boot | ordinal | pick small, med, big
safety | ordinal | pick low, med, high
class | ordinal | pick unacc, acc, good, vgood

mushrooms, 500
cap-shape | category | pick x, f, k, b, s, c
odor | category | pick n, f, s, y, a, l, p, c, m
gill-size | binary | pick b, n

abalone, 500
Sex | category | pick M, F, I
Length | real | normal 0.5 0.1 3
Rings | real/count | normal 10 3

medical charges, 500
age | real | whole 18 64
bmi | real | normal 30 6 2
children | count/ordinal | pick 0, 1, 2, 3, 4, 5
region | category | pick southeast, southwest, northwest, northeast
charges | real | normal 9000 0.9 4 up

stroke patients, 600
id | identifier | codes 600 1000 90000
ever_married | binary | pick Yes, No
work_type | category | pick Private, Self-employed, children, Govt_job, Never_worked
avg_glucose_level | real | normal 106 40 2
smoking_status | category/ordinal | pick never smoked, Unknown, formerly smoked, smokes

pupils, 400
school | binary | pick GP, MS
famsize | binary | pick GT3, LE3
Medu | ordinal | whole 0 4
Mjob | category | pick other, services, at_home, teacher, health
traveltime | ordinal | pick 1, 2, 3, 4
failures | count/ordinal | pick 0, 1, 2, 3
absences | count | count 5
G3 | real/ordinal | whole 0 20

rooms to let, 2000
host_id | identifier | codes 1500 1000 900000
neighbourhood | category | words 200
room_type | category | pick Entire home/apt, Private room, Shared room
price | real | normal 120 0.6 2 up <<$#,[.2]>>
host_response_rate | real | whole 40 100 <<#%>> holes
instant_bookable | binary | pick f, t
number_of_reviews | count | count 9

trial visits, 400
subject | identifier | serial 4001 <<S-#>>
site | category | pick 001, 002, 014, 027, 110
arm | category | pick placebo, low dose, high dose
visit | ordinal | pick Week 0, Week 4, Week 12, Week 24
ecog | ordinal | pick 0, 1, 2, 3
sbp | real | normal 128 15 also -99
income | ignored/real | normal 40000 0.5 up also refused

women's glucose, 700
Pregnancies | count | count 3.8
Glucose | real | normal 121 30
DiabetesPedigreeFunction | real | normal 0.4 0.5 3 up
Age | real | whole 21 81
Outcome | binary | pick 0, 1

invoices
invoice no | identifier | serial 20001
region code | category | pick 10, 20, 35, 40, 90
qty | count/real | count 8
unit price | real | normal 12 0.7 2 up <<€ #.[,2]>>
rebate | real | whole 0 25 <<# %>>
size | ordinal | pick M, L, S, XL, XXL
paid | binary | pick ja, nein

developer survey, 900
Employment | category | pick Employed full-time, Student, Self-employed, Not employed
OrgSize | ordinal | pick 20 to 99 employees; 100 to 499 employees; 2 to 9 employees; 10,000 or more employees; 1,000 to 4,999 employees
Languages | several | tick Python, SQL, C++, JavaScript, Rust, Go
Age | ordinal | pick 25-34 years old, 35-44 years old, 18-24 years old, 45-54 years old, Under 18 years old, 65 years or older
Salary | real | normal 65000 0.6 up
Country | category | words 120
EdLevel | ordinal/category | pick Bachelor's degree, Master's degree, Some college, High school, Doctoral degree

mood diary, 500
q1 | ordinal | whole 0 3
q2 | ordinal | whole 0 3
q3 | ordinal | whole 0 3
phq_total | real/ordinal/count | whole 0 27
sleep quality | ordinal | whole 1 5
steps | real/count | normal 6500 0.5 up
weekday | category/ordinal | pick Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
"""

HELD_OUT = """
iris, 150
sepal length (cm) | real | normal 5.8 0.8 1
petal width (cm) | real | normal 1.2 0.7 1
species | category | pick setosa, versicolor, virginica

houses in Boston, 506
CRIM | real | normal 0.3 1.5 5 up
ZN | real | zeros 40
CHAS | binary | pick 0, 1
RAD | ordinal/category/real | pick 24, 5, 4, 3, 6, 2, 8, 1, 7
TAX | real | normal 400 150
MEDV | real | normal 22 9 1

airline passengers
year | real/ordinal | whole 1949 1960
month | ordinal/category | pick Jan, Feb, Mar, Apr, May, Jun, Jul, Aug, Sep, Oct, Nov, Dec
passengers | real/count | normal 270 90

exercise
id | identifier | serial 1
diet | binary | pick low fat, no fat
pulse | real | normal 99 14
time | real/ordinal | pick 1 min, 15 min, 30 min
kind | category | pick rest, walking, running

taxi rides, 3000
pickup | ignored | dates
passengers | ordinal/count | pick 1, 2, 5, 3, 6, 4, 0
distance | real | normal 2 0.8 2 up
fare | real | normal 10 0.5 2 up
color | binary | pick yellow, green
pickup_zone | category | words 150
pickup_borough | category | pick Manhattan, Queens, Brooklyn, Bronx

loans, 1500
loan_amnt | real | normal 12000 0.6 up
term | binary | pick 36 months, 60 months
int_rate | real | normal 12 4 2 <<#[.2]%>>
grade | ordinal/category | pick B, A, C, D, E, F, G
emp_length | ordinal | pick 10+ years, < 1 year, 2 years, 3 years, 5 years, 4 years, 1 year
home_ownership | category | pick RENT, MORTGAGE, OWN, OTHER
purpose | category | pick debt_consolidation, credit_card, other, home_improvement, car, wedding
addr_state | category | pick CA, NY, TX, FL, IL, NJ, PA, OH, GA, VA, WA
delinq_2yrs | count | count 0.3
revol_util | real | normal 50 20 1 <<#[.1]%>>

social survey, 900
degree | ordinal | pick High school, Bachelor, Graduate, Less than high school, Junior college
happy | ordinal | pick Pretty happy, Very happy, Not too happy
attend | ordinal | pick Never, Once a year, Several times a year, Once a month, Every week
region | category | pick Pacific, Mountain, New England, South Atlantic
trust | ordinal/category | pick Can't be too careful, Can trust, Depends
health | ordinal | pick Good, Excellent, Fair, Poor
childs | count/ordinal | whole 0 8

marriages, 600
rate_marriage | ordinal | pick 5, 4, 3, 2, 1
age | real | pick 27, 22, 32, 42, 37, 17.5
yrs_married | real | pick 2.5, 6, 16.5, 9, 13, 0.5, 23
religious | ordinal | pick 3, 2, 4, 1
occupation | category | pick 3, 4, 5, 2, 6, 1
affairs | real/count | zeros 3

election study, 900
popul | real | zeros 300
TVnews | count/ordinal | whole 0 7
selfLR | ordinal | whole 1 7
educ | ordinal | whole 1 7
income | ordinal/real | whole 1 24
vote | binary | pick 0, 1

students' habits
Sex | binary | pick Female, Male
Wr.Hnd | real | normal 18.6 1.8 1
Fold | category | pick R on L, L on R, Neither
Pulse | real | normal 74 11 holes
Smoke | ordinal | pick Never, Occasionally, Regularly, Heavily
Height | real | normal 172 9 2 holes

births, 300
low | binary | pick 0, 1
lwt | real | normal 129 30
race | category | pick 1, 3, 2
ptl | count/ordinal | pick 0, 1, 2, 3
ftv | count/ordinal | pick 0, 1, 2, 3, 4, 6
bwt | real | normal 2950 720

cancer cases
agegp | ordinal | pick 25-34, 35-44, 45-54, 55-64, 65-74, 75+
alcgp | ordinal | pick 0-39g/day, 40-79, 80-119, 120+
tobgp | ordinal | pick 0-9g/day, 10-19, 20-29, 30+
ncases | count | count 2.3

card customers, 400
Income | real | normal 33 0.7 3 up
Limit | real | normal 4700 2200
Rating | real | normal 355 150
Cards | count/ordinal | pick 3, 2, 4, 1, 5, 6, 7
Ethnicity | category | pick Caucasian, Asian, African American
Balance | real | normal 520 450

car seats, 400
Sales | real | normal 7.5 2.8 2
ShelveLoc | ordinal | pick Medium, Bad, Good
Urban | binary | pick Yes, No
Advertising | real/count | zeros 12

hotel bookings, 1500
hotel | binary | pick City Hotel, Resort Hotel
lead_time | real/count | normal 60 1.1 up
arrival_date_month | ordinal/category | pick August, July, May, October, April, June, September, March
stays_in_week_nights | count | count 2.5
adults | ordinal/count | pick 2, 1, 3, 0, 4
meal | category | pick BB, HB, SC, FB
country | category | words 110
adr | real | normal 95 0.4 2 up
reserved_room_type | category | pick A, D, E, F, G, B, C
booking_changes | count/ordinal | count 0.3

diabetic encounters, 1500
encounter_id | identifier | codes 1500 10000 999999
race | category | pick Caucasian, AfricanAmerican, Hispanic, Asian, Other also ?
age | ordinal | pick [70-80), [60-70), [50-60), [80-90), [40-50), [30-40), [0-10)
admission_type_id | category | pick 1, 3, 2, 6, 5, 8, 7, 4
time_in_hospital | real/count/ordinal | whole 1 14
payer_code | category | pick MC, HM, SP, BC, MD, CP
num_lab_procedures | real/count | normal 43 18
number_emergency | count | count 0.4
insulin | category/ordinal | pick No, Steady, Down, Up
readmitted | ordinal/category | pick NO, >30, <30

vendas
Cliente | category | words 40
Valor | real | normal 900 0.8 2 up <<R$ #.[,2]>>
Desconto | real | normal 9 3 1 <<#[,1]%>>
Situação | category | pick pago, pendente, cancelado

Lohnliste
Name | identifier/ignored | words 300
Lohn | real | normal 72000 0.3 2 up <<CHF #'[.2]>>
Pensum | real | pick 100%, 80%, 60%, 50%, 90%
Kanton | category | pick ZH, BE, LU, SG, GR, TI, VD

ventes
Montant | real | normal 1400 0.8 2 up <<#_[,2] €>>
Remise | real | whole 0 30 <<# %>>
Région | category | pick Bretagne, Alsace, Corse, Normandie
Satisfaction | ordinal | whole 1 5

vital signs
patient_id | identifier | serial 1
height | real | whole 57 77 <<#' #">>
temp | real | normal 98.4 0.9 1 <<#[.1]F>>
weight | real | normal 180 35 <<# lbs>>
bp | ignored/identifier | serial 100 <<#/80>>
o2 sat | real | whole 88 100 <<#%>>
severity | ordinal | pick Moderate, Mild, Severe, Critical
smoker | category/ordinal | pick Never, Former, Current

school records, 500
student_no | identifier | serial 900
grade_level | ordinal | pick 9th, 10th, 11th, 12th
letter | ordinal/category | pick B, A, C, D, F
gpa | real | normal 3 0.5 2
tardies | count | count 2
zipcode | category | pick 60601, 60614, 60657, 60640, 60618, 60647
lunch | binary | pick standard, free/reduced
counselor id | category | pick 3, 8, 11, 14

staff, 400
Performance | ordinal/category | pick Fully Meets, Exceeds, Needs Improvement, PIP
Engagement | ordinal/real | whole 1 5
Pay | real | normal 62000 0.2 up <<#,>>
ManagerID | category | pick 4, 20, 16, 39, 11, 10, 19, 12, 7, 14
Absences | count/real | count 9
Department | category | pick Production, IT/IS, Sales, Admin Offices

used cars, 800
vin | identifier | serial 88000 <<1HGCM#>>
make | category | pick Toyota, Ford, Honda, BMW, Fiat, Kia, Opel, Seat
mileage | real | normal 60000 0.6 up <<#, mi>>
engine | real | pick 1.0 L, 1.6 L, 2.0 L, 3.0 L, 1.4 L
doors | ordinal/count | pick 4, 2, 5, 3
condition | ordinal | pick good, excellent, like new, fair, salvage
asking price | real | normal 14000 0.5 up <<$#,>>

shop visits, 1000
Administrative | count | count 2.3
BounceRates | real | normal 0.02 0.8 4 up
SpecialDay | real/ordinal | pick 0.0, 0.6, 0.8, 0.4, 0.2, 1.0
OperatingSystems | category | pick 2, 1, 3, 4, 8, 6
Browser | category | pick 2, 1, 4, 5, 6, 10, 8, 3
Region | category | whole 1 9
TrafficType | category | pick 2, 1, 3, 4, 13, 10, 6, 8, 5, 11, 20
VisitorType | category | pick Returning_Visitor, New_Visitor, Other
Revenue | binary | pick FALSE, TRUE

polling
interview_date | ignored | dates
constituency | category | words 90
party_code | category | pick 1, 2, 3, 4, 7
left_right | ordinal | whole 0 10
interest | ordinal | pick Somewhat interested, Very interested, Not interested
turnout | binary | pick voted, did not vote
news sources | several | tick TV, Radio, Newspaper, Online

allergy study
participant | identifier | serial 1 <<P#>>
age_group | ordinal | pick adult, child, senior, teen
exposure | ordinal | pick low, medium, high
ige | real | normal 80 1.1 1 up also -9
symptoms | several | tick sneezing, rash, cough
onset | ignored | dates
treatment group | category | pick 1, 2, 3

farm plots
plot | identifier | serial 1
block | category/ordinal | whole 1 6
soil type | category | pick 4, 7, 12, 29, 30
fertilizer | ordinal/category | pick none, low, high
yield t/ha | real | normal 6 1.5 2
rain mm | real | normal 480 90
pest score | ordinal | whole 0 4

house survey
tenure | category | pick owner, private renter, social renter
rooms | count/ordinal | pick 4, 5, 3, 6, 2, 7, 8
rent | real | normal 900 0.4 up <<£#,>>
council tax band | ordinal/category | pick Band D, Band C, Band A, Band B, Band E
heating hours | real/count | whole 0 24
damp | ordinal | pick No, A little, Some, A lot
household income | ordinal | pick £20k-£30k, under £20k, £30k-£50k, over £50k

physicians' visits, 800
mdvis | count | count 2.9
lncoins | real | normal 2.4 2 4
idp | binary | pick 0, 1
disea | real | normal 11 6 1
hlthstat | ordinal | pick excellent, good, fair, poor
linc | real | normal 8.7 1.2 4

air quality
Ozone | real | normal 42 30 holes
Wind | real | normal 10 3.5 1
Month | ordinal | whole 5 9
Day | real | whole 1 31
station code | category | codes 12 1001 9999
quality | ordinal | pick moderate, good, unhealthy, very unhealthy

course feedback, 500
instructor | category | words 25
pace | ordinal | pick About right, Too fast, Too slow, Much too fast
clarity | ordinal | pick Agree, Strongly agree, Neither agree nor disagree, Disagree, Strongly disagree
hours studied | real/count | whole 0 30
final grade | real | whole 20 100
year of study | ordinal | pick 2nd, 1st, 3rd, 4th
remarks | ignored | prose
"""
